"""Counters that are true at every moment: minutes and totals plus the deltas not folded yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.reports.reading import Cursor
from monitor.store import sql

SQL = sql.load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """A counter since the beginning."""

    consumer_id: int
    name: str
    label: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Minute:
    """A counter's growth within one minute."""

    consumer_id: int
    name: str
    label: str
    minute: datetime
    value: float


def totals(cursor: Cursor, names: Sequence[str] | None = None) -> list[Total]:
    """All counters (or those of these names) since the beginning, in one snapshot."""
    raise NotImplementedError


def minutes(cursor: Cursor, names: Sequence[str], *, minutes: int = 60) -> list[Minute]:
    """Growth per minute of these counters over the last minutes, the current one included."""
    raise NotImplementedError
