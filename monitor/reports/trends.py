"""Trends: throughput, time in handlers, duplicates and failures over a range, for charts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from monitor.domain.durations import BUCKETS, at_most
from monitor.reports import counters
from monitor.reports.reading import Cursor, reading
from monitor.store import sql

SQL = sql.load(__file__)

_COUNTERS = ("received", "processed", "duplicates", "handler_seconds_bucket")
_DONE = ("done", "skipped")
_FAILED = ("failed", "dead")  # a run that will be tried again, or was the last one

Known = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """How far back a chart reaches, cut into bins of equal length."""

    name: str
    bins: int
    seconds: int  # of a bin


RANGES = (
    Range(name="60m", bins=60, seconds=60),
    Range(name="6h", bins=72, seconds=300),
    Range(name="24h", bins=96, seconds=900),
    Range(name="7d", bins=168, seconds=3600),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Values of each bin, the oldest first; the last bin is still running.

    starts: when each bin begins. received and done: per second; None before anything was counted,
    0 when nothing came. p50, p95, p99: milliseconds that such a share of the runs of handlers took
    at most, the upper bound of a bucket (infinite: beyond the last); None without runs.
    duplicates: share of the deliveries. failures: share of the ended runs. None without any.
    The sums are of the whole range. p95_overall: as p95, of all runs of the range.
    """

    range: Range
    now: datetime
    starts: tuple[datetime, ...]
    received: Known
    done: Known
    p50: Known
    p95: Known
    p99: Known
    duplicates: Known
    failures: Known
    received_sum: float
    done_sum: float
    duplicates_sum: float
    runs_sum: float
    failures_sum: float
    p95_overall: float | None

    @property
    def until(self) -> datetime:
        """When the last bin will be over."""
        return self.starts[-1] + timedelta(seconds=self.range.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """The growth per bin, and which bins are known."""

    starts: tuple[datetime, ...]
    values: dict[tuple[str, str], dict[datetime, float]]
    known_since: datetime
    now: datetime
    seconds: int

    def sums(self, name: str, *labels: str) -> tuple[float, ...]:
        """Per bin, of these labels or of all."""
        parts = [
            per_bin
            for (counter, label), per_bin in self.values.items()
            if counter == name and (not labels or label in labels)
        ]
        return tuple(sum(part.get(start, 0.0) for part in parts) for start in self.starts)

    def per_second(self, sums: tuple[float, ...]) -> Known:
        """Rates: of the running bin over the seconds it has so far, at least a tenth of it."""
        running = max((self.now - self.starts[-1]).total_seconds(), self.seconds / 10)
        seconds = [*(float(self.seconds) for _ in self.starts[1:]), running]
        return tuple(
            count / length if start + timedelta(seconds=self.seconds) > self.known_since else None
            for start, count, length in zip(self.starts, sums, seconds, strict=True)
        )

    def at_most(self, share: float) -> Known:
        """Milliseconds per bin."""
        columns = zip(*(self.sums("handler_seconds_bucket", one) for one in BUCKETS), strict=True)
        return tuple(_milliseconds(column, share) for column in columns)


def read(range_: Range, *, consumer: int | None = None) -> Trend:
    """The trend of the whole, or of one consumer."""
    with reading() as cursor:
        counted = _read(cursor, range_, consumer)
    received, done = counted.sums("received"), counted.sums("processed", *_DONE)
    again, failed = counted.sums("duplicates"), counted.sums("processed", *_FAILED)
    runs = tuple(map(sum, zip(done, failed, strict=True)))
    buckets = [sum(counted.sums("handler_seconds_bucket", one)) for one in BUCKETS]
    return Trend(
        range=range_,
        now=counted.now,
        starts=counted.starts,
        received=counted.per_second(received),
        done=counted.per_second(done),
        p50=counted.at_most(0.5),
        p95=counted.at_most(0.95),
        p99=counted.at_most(0.99),
        duplicates=_shares(again, received),
        failures=_shares(failed, runs),
        received_sum=sum(received),
        done_sum=sum(done),
        duplicates_sum=sum(again),
        runs_sum=sum(runs),
        failures_sum=sum(failed),
        p95_overall=_milliseconds(buckets, 0.95),
    )


def _read(cursor: Cursor, range_: Range, consumer: int | None) -> _Counted:
    now = counters.now(cursor)
    length = timedelta(seconds=range_.seconds)
    last = datetime.fromtimestamp(now.timestamp() // range_.seconds * range_.seconds, UTC)
    starts = tuple(last - length * (range_.bins - 1 - at) for at in range(range_.bins))
    values: dict[str, Any] = {
        "seconds": range_.seconds,
        "since": starts[0],
        "names": list(_COUNTERS),
        "consumer": consumer,
    }
    cursor.execute(SQL["binned"], values)
    found: dict[tuple[str, str], dict[datetime, float]] = defaultdict(dict)
    for start, name, label, value in cursor.fetchall():
        found[name, label][start] = value
    cursor.execute(SQL["known_since"], values)
    (created_at,) = cursor.fetchone()
    # Figures of a time before it was declared anew, or restored, are known all the same.
    first = min((start for part in found.values() for start in part), default=now)
    return _Counted(
        starts=starts,
        values=found,
        known_since=min(created_at or now, first),
        now=now,
        seconds=range_.seconds,
    )


def _shares(parts: tuple[float, ...], wholes: tuple[float, ...]) -> Known:
    return tuple(part / whole if whole else None for part, whole in zip(parts, wholes, strict=True))


def _milliseconds(counts: tuple[float, ...] | list[float], share: float) -> float | None:
    seconds = at_most(counts, share)
    return None if seconds is None else seconds * 1000.0
