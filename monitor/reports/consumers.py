"""Consumers: is each keeping up, and with what policy."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, cast

from monitor.domain.consumer import NO_CONSUMER
from monitor.domain.durations import BUCKET_SECONDS, BUCKETS, at_most
from monitor.reports import counters
from monitor.reports.growth import MINUTES as TREND_MINUTES
from monitor.reports.reading import Cursor, reading
from monitor.store import sql

SQL = sql.load(__file__)

CAP = 100_000  # dead letters and open mismatches of a consumer are counted exactly up to here
_MINUTES = 60  # of a series
_RECENT_MINUTES = 5  # what counts as "now" for the state of a consumer
_STALLED_SECONDS = 120
_MANY_FAILURES = 0.05  # of all runs; a few retries are no reason to look
_COUNTERS = ("received", "processed", "duplicates")
_DURATIONS = ("handler_seconds_bucket",)
_FEW = 100  # messages: a smaller backlog says nothing about what limits it


class ConsumerState(StrEnum):
    """The worst thing that is true of a consumer."""

    HELD = "held"  # an operator holds it
    THROTTLED = "throttled"  # its downstream is away: one message at a time, every so often
    BLOCKED = "blocked"  # messages wait behind a held session, one is in doubt, or nothing moves
    DEGRADED = "degraded"  # failures or new dead letters within the last minutes
    IDLE = "idle"  # nothing came within the hour and nothing waits
    OK = "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttle:
    """Why and since when a consumer is throttled. failures: in a row. next_try: None: it runs."""

    since: datetime
    failures: int
    next_try: datetime | None
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRow:
    """One consumer as in the overview's table.

    Rates are per second over the last 60 to 120 s. dead 100,001 means more than 100,000.
    is_stalled: messages could run, the oldest waits for 2 minutes, and nothing was processed since.
    delayed: held back by their sender for a time. gaps: sessions that wait for a number.
    p95_milliseconds: 95 of 100 handlers of the last 5 minutes took no longer; from a histogram, so
    it is the upper bound of a bucket. empty_seconds: until nothing waits, at the pace of the
    last 5 minutes; None: it does not shrink. is_one_session: most of what waits is of one session,
    so more workers would not help. workers: processes at work for it now. grown: new messages less
    processed ones in the last 10 minutes.
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
    in_doubt: int
    delayed: int
    gaps: int
    throttle: Throttle | None
    p95_milliseconds: float | None
    empty_seconds: float | None
    is_one_session: bool
    workers: int
    grown: int
    received_series: tuple[float, ...]
    done_series: tuple[float, ...]
    is_stalled: bool
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerDetail:
    """A consumer with its policy and who holds it. policy: as it was declared."""

    row: ConsumerRow
    source: str
    types: tuple[str, ...] | None
    when_dead: str
    policy: dict[str, Any]
    held: bool
    held_at: datetime | None
    held_by: str
    held_reason: str
    held_until: datetime | None
    created_at: datetime
    totals: tuple[tuple[str, str, float], ...]  # (counter, label, value) since the beginning
    mean_milliseconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Growth:
    """What a consumer's counters grew by within the last hour.

    grown: by name and label, then by minute, so that each figure looks at its own counters only.
    """

    axis: Sequence[datetime]
    now: datetime
    grown: Mapping[tuple[str, str], Mapping[datetime, float]]

    def series(self, name: str, *labels: str, last: int = _MINUTES) -> tuple[float, ...]:
        wanted = [
            values
            for (counter, label), values in self.grown.items()
            if counter == name and (not labels or label in labels)
        ]
        return tuple(sum(each.get(at, 0.0) for each in wanted) for at in self.axis[-last:])

    def recent(self, name: str, *labels: str) -> float:
        return sum(self.series(name, *labels, last=_RECENT_MINUTES))

    def per_second(self, name: str, *labels: str) -> float:
        """Over the last whole minute and the running one: never a fraction of a second."""
        seconds = (self.now - self.axis[-2]).total_seconds()
        return sum(self.series(name, *labels, last=2)) / max(seconds, 1.0)


def every() -> tuple[ConsumerRow, ...]:
    """All consumers that are active or still have something, by name."""
    with reading() as cursor:
        return rows(cursor, counters.now(cursor))


def detail(consumer_id: int) -> ConsumerDetail | None:
    """One consumer, or None."""
    with reading() as cursor:
        found = _all_rows(cursor, counters.now(cursor))
        row = next((each for each in found if each.id == consumer_id), None)
        if row is None:
            return None
        cursor.execute(SQL["detail"], {"id": consumer_id})
        values = cursor.fetchone()
        totals = [t for t in counters.totals(cursor) if t.consumer_id == consumer_id]
    policy: dict[str, Any] = json.loads(values[3], parse_float=str)
    return ConsumerDetail(
        row=row,
        source=values[0],
        types=None if values[1] is None else tuple(values[1]),
        when_dead=values[2],
        policy=policy,
        held=values[4],
        held_at=values[5],
        held_by=values[6],
        held_reason=values[7],
        held_until=values[8],
        created_at=values[9],
        totals=tuple(sorted((t.name, t.label, t.value) for t in totals)),
        mean_milliseconds=_mean(totals),
    )


def names() -> tuple[tuple[int, str], ...]:
    """(id, name) of every consumer, by name, for filters."""
    with reading() as cursor:
        return names_of(cursor)


def names_of(cursor: Cursor) -> tuple[tuple[int, str], ...]:
    """(id, name) of every consumer, by name."""
    cursor.execute(SQL["names"])
    return tuple(cursor.fetchall())


def snapshot_at(cursor: Cursor) -> datetime | None:
    """When the clock took the figures of backlogs; None: never."""
    cursor.execute(SQL["snapshot_at"])
    (found,) = cursor.fetchone()
    return cast("datetime | None", found)


def rows(cursor: Cursor, now: datetime) -> tuple[ConsumerRow, ...]:
    """All consumers that are active or still have something, by name."""
    return tuple(row for row in _all_rows(cursor, now) if row.active or _has_something(row))


def _all_rows(cursor: Cursor, now: datetime) -> list[ConsumerRow]:
    axis = counters.axis(now, _MINUTES)
    grown: dict[int, dict[tuple[str, str], dict[datetime, float]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for names, since in ((_COUNTERS, axis[0]), (_DURATIONS, axis[-_RECENT_MINUTES])):
        for each in counters.minutes(cursor, names, since=since):
            grown[each.consumer_id][each.name, each.label][each.minute] = each.value
    cursor.execute(SQL["workers"])
    workers = dict(cursor.fetchall())
    cursor.execute(SQL["rows"], {"count": CAP + 1})
    return [
        _row(
            values,
            _Growth(axis=axis, now=now, grown=grown[values[0]]),
            workers=workers.get(values[0], 0),
        )
        for values in cursor.fetchall()
    ]


def _row(values: tuple[Any, ...], growth: _Growth, *, workers: int) -> ConsumerRow:
    backlog, parked, oldest_at = values[4], values[5], values[9]
    received, again = growth.series("received"), growth.series("duplicates")
    is_stalled = (
        backlog > parked
        and oldest_at is not None
        and growth.now - oldest_at > timedelta(seconds=_STALLED_SECONDS)
        and not sum(growth.series("processed")[-2:])
        and not 0 < values[7] <= values[15]  # each of its sessions waits for a number
    )
    stands = {
        "held": values[3],
        "parked": parked,
        "backlog": backlog,
        "is_stalled": is_stalled,
        "in_doubt": values[13],
        "throttled": values[16] is not None,
    }
    return ConsumerRow(
        id=values[0],
        name=values[1],
        active=values[2],
        state=next(state for state, is_true in _STATES if is_true(stands, growth)),
        received_per_second=growth.per_second("received"),
        done_per_second=growth.per_second("processed", "done", "skipped"),
        backlog=backlog,
        parked=parked,
        waiting=values[6],
        sessions=values[7],
        held_sessions=values[8],
        oldest_at=oldest_at,
        duplicate_ratio=sum(again) / sum(received) if sum(received) else None,
        dead=values[10],
        mismatches_open=values[11],
        in_doubt=values[13],
        delayed=values[14],
        gaps=values[15],
        throttle=_throttle(*values[16:20]),
        p95_milliseconds=_p95(growth),
        empty_seconds=_empty_seconds(backlog - parked, growth),
        is_one_session=backlog > _FEW and values[20] > backlog / 2,
        workers=workers,
        grown=_grown(growth),
        received_series=received,
        done_series=growth.series("processed", "done", "skipped"),
        is_stalled=is_stalled and not values[3] and values[16] is None,
        version=values[12],
    )


def _throttle(
    since: datetime | None, failures: int, next_try: datetime | None, error: str
) -> Throttle | None:
    if since is None:
        return None
    return Throttle(since=since, failures=failures, next_try=next_try, error=error)


def _p95(growth: _Growth) -> float | None:
    """The upper bound of the bucket that holds the 95th of 100 runs, in ms; None without runs."""
    counts = [growth.recent("handler_seconds_bucket", label) for label in BUCKETS]
    seconds = at_most(counts, 0.95)
    return None if seconds is None else min(seconds, BUCKET_SECONDS[-1]) * 1000.0


def _empty_seconds(waiting: int, growth: _Growth) -> float | None:
    """How long until nothing waits, if it goes on as in the last minutes."""
    if waiting <= 0:
        return None
    seconds = (growth.now - growth.axis[-_RECENT_MINUTES]).total_seconds()
    shrinks = growth.recent("processed", "done", "skipped") - growth.recent("received")
    shrinks += growth.recent("duplicates") + growth.recent("processed", "dead")
    return waiting / (shrinks / seconds) if shrinks > 0 else None


def _grown(growth: _Growth) -> int:
    came = growth.series("received", "new")[-TREND_MINUTES:]
    ended = growth.series("processed", "done", "skipped", "dead")[-TREND_MINUTES:]
    return round(sum(came) - sum(ended))


def _is_blocked(stands: dict[str, Any]) -> bool:
    return bool(stands["parked"] > 0 or stands["in_doubt"] > 0 or stands["is_stalled"])


def _is_degraded(_stands: dict[str, Any], growth: _Growth) -> bool:
    runs, failed = growth.recent("processed"), growth.recent("processed", "failed")
    return growth.recent("processed", "dead") > 0 or failed > runs * _MANY_FAILURES


def _is_idle(stands: dict[str, Any], growth: _Growth) -> bool:
    return not stands["backlog"] and not sum(growth.series("received"))


# The worst that is true comes first.
_STATES: tuple[tuple[ConsumerState, Callable[[dict[str, Any], _Growth], bool]], ...] = (
    (ConsumerState.HELD, lambda stands, _: bool(stands["held"])),
    (ConsumerState.THROTTLED, lambda stands, _: bool(stands["throttled"])),
    (ConsumerState.BLOCKED, lambda stands, _: _is_blocked(stands)),
    (ConsumerState.DEGRADED, _is_degraded),
    (ConsumerState.IDLE, _is_idle),
    (ConsumerState.OK, lambda _stands, _growth: True),
)


def _has_something(row: ConsumerRow) -> bool:
    if row.id == NO_CONSUMER:
        return row.dead > 0 or row.mismatches_open > 0
    kept = (row.backlog, row.dead, row.mismatches_open, row.in_doubt, row.delayed)
    return any(count > 0 for count in kept)


def _mean(totals: list[counters.Total]) -> float | None:
    seconds = sum(t.value for t in totals if t.name == "handler_seconds_sum")
    runs = sum(t.value for t in totals if t.name == "handler_seconds_bucket")  # stored apart
    return seconds / runs * 1_000 if runs else None
