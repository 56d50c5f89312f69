"""Which members of a JSON payload count when two deliveries of one key are compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from monitor.domain.errors import ConfigurationError

_PATH = re.compile(r"[^.\s]+(\.[^.\s]+)*")
_ABSENT = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What counts of a payload: only these members, or all but these ("order.id", "meta.sent_at").

    For senders that change a part of a message each time they repeat it, such as a time of sending.
    A payload that has none of the members in `only` counts whole: two of them are never equal just
    because nothing was looked at.
    """

    only: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.only) == bool(self.ignore):
            raise ConfigurationError(
                "Fingerprint: give either only= or ignore=, with some members."
            )
        for path in (*self.only, *self.ignore):
            if not isinstance(path, str) or not _PATH.fullmatch(path):
                raise ConfigurationError(
                    f"Fingerprint: {path!r} is no path; names with dots between, such as order.id."
                )

    def project(self, value: Any) -> Any:
        """The part of a JSON value that counts; the whole one when `only` finds nothing in it."""
        if self.ignore:
            for path in self.ignore:
                value = _without(value, path.split("."))
            return value
        found = {path: _at(value, path.split(".")) for path in self.only}
        kept = {path: part for path, part in found.items() if part is not _ABSENT}
        return kept or value


def _at(value: Any, names: list[str]) -> Any:
    for name in names:
        if not isinstance(value, dict) or name not in value:
            return _ABSENT
        value = value[name]
    return value


def _without(value: Any, names: list[str]) -> Any:
    if not isinstance(value, dict) or names[0] not in value:
        return value
    if len(names) == 1:
        return {name: part for name, part in value.items() if name != names[0]}
    return {**value, names[0]: _without(value[names[0]], names[1:])}
