"""Which dead letters a verb on many speaks of, and how many of them are still to come."""

from __future__ import annotations

from dataclasses import dataclass

MOST = 100_000  # messages in one requeue; a plan counts exactly up to here


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Those of a cause, a consumer, a session; None: of any."""

    cause: str | None = None
    consumer: int | None = None
    session: int | None = None


def still_to_come(*, total: int, moved: int, gone: int, refused: int) -> int:
    """Of a requeue of so many: those not put back, not gone from the dead, not refused."""
    return total - moved - gone - refused
