"""Ids in URLs: whole numbers that the database can hold, so that others are simply not found."""

from __future__ import annotations


class RowId:
    """A bigint from 0 on."""

    regex = "[0-9]{1,19}"
    largest = 2**63 - 1

    def to_python(self, value: str) -> int:
        """The number; ValueError, so 404, when it is too large."""
        number = int(value)
        if number > self.largest:
            raise ValueError(f"{value} is larger than any id")
        return number

    def to_url(self, value: int) -> str:
        """The plain digits, whatever the language."""
        return str(int(value))


class ConsumerId(RowId):
    """A smallint from 0 on."""

    regex = "[0-9]{1,5}"
    largest = 2**15 - 1
