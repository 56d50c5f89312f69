"""Consumers: is each keeping up, and with what policy."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ConsumerState(StrEnum):
    """The worst thing that is true of a consumer."""

    HELD = "held"  # an operator holds it
    BLOCKED = "blocked"  # a held session has messages behind it, or a backlog does not move
    DEGRADED = "degraded"  # failures or new dead letters within the last minutes
    IDLE = "idle"  # nothing came within the hour and nothing waits
    OK = "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRow:
    """One consumer as in the overview's table.

    Rates are per second over the last 60 to 120 s. dead 100,001 means more than 100,000.
    received_series and done_series: per minute, 60 values, the current minute last.
    """

    id: int
    name: str
    active: bool
    state: ConsumerState
    received_per_second: float
    done_per_second: float
    backlog: int
    parked: int
    waiting: int
    sessions: int
    held_sessions: int
    oldest_at: datetime | None
    duplicate_ratio: float | None
    dead: int
    mismatches_open: int
    received_series: tuple[float, ...]
    done_series: tuple[float, ...]
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerDetail:
    """A consumer with its policy and who holds it. policy: names and values ready to show."""

    row: ConsumerRow
    source: str
    types: tuple[str, ...] | None
    when_dead: str
    policy: tuple[tuple[str, str], ...]
    held: bool
    held_at: datetime | None
    held_by: str
    held_reason: str
    held_until: datetime | None
    created_at: datetime
    totals: tuple[tuple[str, str, float], ...]  # (counter, label, value) since the beginning
    mean_milliseconds: float | None


def every() -> tuple[ConsumerRow, ...]:
    """All consumers that are active or still have something, by name."""
    raise NotImplementedError


def detail(consumer_id: int) -> ConsumerDetail | None:
    """One consumer, or None."""
    raise NotImplementedError


def names() -> tuple[tuple[int, str], ...]:
    """(id, name) of every consumer, by name, for filters."""
    raise NotImplementedError
