"""Duplicates: how much redelivery, from whom, and whether keys are kept long enough."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Duplicates per minute of one consumer and cause; values belong to Duplicates.minutes."""

    consumer_id: int
    consumer: str
    cause: str
    values: tuple[float, ...]
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TopKey:
    """A message with many duplicates among the newest kept ones."""

    message_id: int
    consumer: str
    key: str
    recent: int
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GapBucket:
    """How many of the newest kept duplicates came within this gap (above the bucket before)."""

    up_to_seconds: float | None  # None: beyond the last bound
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates:
    """Rates of the last minutes, totals since the beginning and the gaps of the newest ones.

    received: deliveries per minute (new, duplicates and mismatches), the base of the rate.
    """

    minutes: tuple[datetime, ...]
    series: tuple[Series, ...]
    received: tuple[float, ...]
    duplicates_window: float
    received_window: float
    ratio_window: float | None
    runs_avoided_total: float
    top_keys: tuple[TopKey, ...]
    gaps: tuple[GapBucket, ...]
    gaps_sampled: int
    longest_gap_seconds: float | None
    retention_seconds: float


def read(*, minutes: int = 60, consumer: int | None = None) -> Duplicates:
    """The figures of the Duplicates page."""
    raise NotImplementedError
