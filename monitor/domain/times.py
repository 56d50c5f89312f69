"""What a sender says about time: when it sent, not before when, whether it is the last."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from monitor.domain.errors import RejectedDeliveryError
from monitor.domain.places import Found, Place

LONGEST_DELAY = timedelta(days=365)
# Before it nothing was sent: programming languages write 0001 or 1970 for a date that nobody set.
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)

# RFC 3339; fromisoformat() alone takes weeks, bare dates and times without a zone too.
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def read_time(value: Any) -> datetime | None:
    """The moment that a value names in RFC 3339 with its zone, in UTC; None for anything else.

    A time that the protocol itself marks as one (AMQP) has no zone: there it is UTC.
    """
    try:
        if isinstance(value, datetime):
            return value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC)
        if isinstance(value, str) and _TIME.fullmatch(value):
            return datetime.fromisoformat(value.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None  # the 30th of February, or a year that UTC does not have
    return None


def sent_at(place: Place, found: Found) -> datetime | None:
    """When the sender sent it, as it says; None when that is no time. Never refuses."""
    try:
        return sending_time(_value(place, found))
    except RejectedDeliveryError:
        return None


def sending_time(value: Any) -> datetime | None:
    """The moment that a value names, unless it is one that only says that no date was set."""
    at = read_time(value)
    return at if at is not None and at >= EARLIEST else None


def not_before(place: Place, found: Found) -> datetime | None:
    """From when on it may run; None when nothing stands there, or a date that nobody set.

    Raises RejectedDeliveryError for anything but a time with its zone within 365 days: a delay
    that is misread runs now, or never.
    """
    if place.look(found) in (None, ""):
        return None
    at = read_time(_value(place, found))
    if at is None:
        raise RejectedDeliveryError(
            f"The time at {place.text!r} must be written as 2026-01-31T09:30:00Z, with its zone."
        )
    if at > datetime.now(UTC) + LONGEST_DELAY:
        raise RejectedDeliveryError(
            f"The time at {place.text!r} is more than {LONGEST_DELAY.days} days ahead."
        )
    return at if at >= EARLIEST else None


def is_last(place: Place, found: Found) -> bool:
    """Whether the sender marks it as the last of its session: true or 1, also as text."""
    value = place.look(found)
    return value in ("true", "1") if isinstance(value, str) else bool(value == 1)


def _value(place: Place, found: Found) -> Any:
    value = place.look(found)
    if place.kind == "property" and place.name == "timestamp" and isinstance(value, int):
        # AMQP's own: seconds since 1970 by its specification.
        try:
            return datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return value
