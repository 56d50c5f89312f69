"""Which dead letters a verb on many speaks of."""

from __future__ import annotations

from dataclasses import dataclass

MOST = 100_000  # messages in one requeue; a plan counts exactly up to here


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Those of a cause, a consumer, a session; None: of any."""

    cause: str | None = None
    consumer: int | None = None
    session: int | None = None
