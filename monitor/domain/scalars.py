"""Reads single JSON values as the plain types of Python, strictly; says what is wrong in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

INTEGER_DIGITS = 4300  # as strict_json: a larger one, given as 1e9999, would only cost memory

_DECIMAL = re.compile(r"-?[0-9]{1,1000}(\.[0-9]{1,1000})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


class WrongValueError(Exception):
    """A value does not fit its type. `steps` grows from the value up to the root."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.steps: list[str] = []

    def within(self, step: str) -> WrongValueError:
        """The same error, seen from one level up."""
        self.steps.append(step)
        return self


def kind(value: object) -> str:
    """What a JSON value is, in words for the person who sends it; never the value itself."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    names: dict[type, str] = {str: "text", dict: "an object", list: "a list"}
    return names.get(type(value), "a number")


def needed(what: str, value: object) -> WrongValueError:
    """The error for a value of another kind."""
    return WrongValueError(f"{what} is needed, not {kind(value)}")


def text(value: object) -> str:
    """Text as it is."""
    if not isinstance(value, str):
        raise needed("text", value)
    return value


def truth(value: object) -> bool:
    """true or false; 0 and 1 are numbers."""
    if not isinstance(value, bool):
        raise needed("true or false", value)
    return value


def nothing(value: object) -> None:
    """Only null."""
    if value is not None:
        raise needed("null", value)


def integer(value: object) -> int:
    """A whole number, however it is spelled: 1, 1.0 and 1e0 are one payload, so one value."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise needed("a whole number", value)
    if isinstance(value, int):
        return value
    exact = decimal(value)
    if exact.adjusted() >= INTEGER_DIGITS:
        raise WrongValueError(f"a whole number of at most {INTEGER_DIGITS} digits is needed")
    if exact != exact.to_integral_value():
        raise WrongValueError("a whole number is needed, not a fraction")
    return int(exact)


def number(value: object) -> float:
    """The nearest float; a number beyond its range is refused."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise needed("a number", value)
    try:
        nearest = float(value)
    except OverflowError:
        nearest = float("inf")
    if nearest in (float("inf"), float("-inf")):
        raise WrongValueError("the number is beyond the range of a float")
    return nearest


def decimal(value: object) -> Decimal:
    """The exact decimal of a number, or of text such as "10.50"."""
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return Decimal(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise needed("a decimal number", value)
    # repr() of a float from strict_json is its exact text; Decimal(float) would show binary noise.
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def moment(value: object) -> datetime:
    """A time with its offset, such as 2026-01-31T10:00:00Z."""
    try:
        at = datetime.fromisoformat(text(value))
    except ValueError as error:
        raise WrongValueError("a time in ISO 8601 is needed") from error
    if at.tzinfo is None:
        raise WrongValueError("a time with its offset is needed, such as 2026-01-31T10:00:00Z")
    return at


def day(value: object) -> date:
    """A date, such as 2026-01-31."""
    if _DATE.fullmatch(text(value)):
        try:
            return date.fromisoformat(text(value))
        except ValueError:
            pass
    raise WrongValueError("a date is needed, such as 2026-01-31")


def uuid(value: object) -> UUID:
    """A UUID in its usual form."""
    if not _UUID.fullmatch(text(value)):
        raise WrongValueError("a UUID is needed")
    return UUID(text(value))


def choice(values: tuple[Any, ...]) -> Callable[[object], Any]:
    """A reader that takes one of the values; type and value must both match."""

    def read(value: object) -> Any:
        for each in values:
            wanted = each.value if isinstance(each, Enum) else each
            if type(wanted) is type(value) and wanted == value:
                return each
        known = ", ".join(str(v.value if isinstance(v, Enum) else v) for v in values)
        raise WrongValueError(f"one of these is needed: {known}")

    return read
