"""Counters that are true at every moment: minutes and totals plus the deltas not folded yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, cast

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


class Minute(NamedTuple):
    """A counter's growth within one minute. A tuple, because a page reads thousands of them."""

    consumer_id: int
    name: str
    label: str
    minute: datetime
    value: float


def totals(cursor: Cursor, names: Sequence[str] | None = None) -> list[Total]:
    """All counters (or those of these names) since the beginning, in one snapshot."""
    cursor.execute(SQL["totals"], {"names": None if names is None else list(names)})
    return [
        Total(consumer_id=row[0], name=row[1], label=row[2], value=row[3])
        for row in cursor.fetchall()
    ]


def minutes(cursor: Cursor, names: Sequence[str], *, since: datetime) -> list[Minute]:
    """Growth per minute of these counters from the minute of `since` on, in no order."""
    cursor.execute(SQL["minutes"], {"names": list(names), "since": since})
    return [Minute(*row) for row in cursor.fetchall()]


def now(cursor: Cursor) -> datetime:
    """The time of the database."""
    cursor.execute(SQL["now"])
    (found,) = cursor.fetchone()
    return cast("datetime", found)


def axis(until: datetime, count: int) -> list[datetime]:
    """The last `count` minutes up to the one of `until`, oldest first."""
    last = until.replace(second=0, microsecond=0)
    return [last - timedelta(minutes=count - 1 - index) for index in range(count)]


def series(found: Iterable[Minute], minutes_axis: Sequence[datetime]) -> tuple[float, ...]:
    """The values summed per minute of the axis, 0 where nothing happened."""
    sums: dict[datetime, float] = defaultdict(float)
    for each in found:
        sums[each.minute] += each.value
    return tuple(sums.get(minute, 0.0) for minute in minutes_axis)
