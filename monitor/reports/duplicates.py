"""Duplicates: how much redelivery, from whom, and whether keys are kept long enough."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor import conf
from monitor.domain import keys
from monitor.domain.source import DAY_SECONDS
from monitor.reports import consumers, counters
from monitor.reports.reading import Cursor, reading
from monitor.store import sql

SQL = sql.load(__file__)

GAP_BOUNDS = (1.0, 10.0, 60.0, 600.0, 3_600.0, 21_600.0, 86_400.0, 604_800.0)
_SAMPLE = 10_000  # kept duplicates that gaps and top keys are read from
_PRODUCERS_SAMPLE = 2_000  # each costs a look at its message


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
    """A message with many duplicates among the newest kept ones (at most 20 a message are kept).

    total: all its duplicates since the first delivery.
    """

    message_id: int
    consumer: str
    key: str
    recent: int
    total: int
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Producer:
    """Who sent duplicates of late, by origin and type: how many of those sampled, and their share.

    cause: the commonest. gap_seconds: the lower quartile, the median and the upper quartile of the
    time between the first delivery and its duplicate.
    """

    origin: str
    type: str
    count: int
    share: float
    cause: str
    gap_seconds: tuple[float, float, float]
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What one origin sent of one type since Duplicates.sampled_since.

    again: duplicates per minute of Duplicates.minutes. firsts: first deliveries.
    """

    origin: str
    type: str
    again: tuple[float, ...]
    firsts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How many deliveries of a consumer, a cause, an origin or a type were duplicates."""

    name: str
    duplicates: float
    deliveries: float

    @property
    def ratio(self) -> float | None:
        """From 0 to 1; None without deliveries."""
        return self.duplicates / self.deliveries if self.deliveries else None


@dataclass(frozen=True, slots=True, kw_only=True)
class GapBucket:
    """How many of the newest kept duplicates came within this gap, beyond the bucket before."""

    up_to_seconds: float | None  # None: beyond the last bound
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates:
    """Rates of the last minutes, totals since the beginning and the gaps of the newest ones.

    received: deliveries per minute (new, duplicates and mismatches), the base of the rate.
    received_by: the same of the whole window by consumer. sent: by origin and type, from the newest
    2,000 messages and kept duplicates; sampled_since: from when on these tell everything.
    """

    minutes: tuple[datetime, ...]
    series: tuple[Series, ...]
    received: tuple[float, ...]
    received_by: dict[str, float]
    sent: tuple[Sent, ...]
    sampled_since: datetime
    duplicates_window: float
    received_window: float
    ratio_window: float | None
    runs_avoided_total: float
    top_keys: tuple[TopKey, ...]
    producers: tuple[Producer, ...]
    gaps: tuple[GapBucket, ...]
    gaps_sampled: int
    longest_gap_seconds: float | None
    retention_seconds: float


def read(*, minutes: int = 60, consumer: int | None = None) -> Duplicates:
    """The figures of the Duplicates page."""
    kept = conf.get().retention.dedup_days * DAY_SECONDS
    bounds = [*(each for each in GAP_BOUNDS if each < kept), kept]
    with reading() as cursor:
        axis = counters.axis(counters.now(cursor), max(1, min(minutes, 1_440)))
        names = dict(consumers.names_of(cursor))
        grown = counters.minutes(cursor, ("received", "duplicates"), since=axis[0])
        totals = counters.totals(cursor, ("duplicates",))
        top_keys = _top_keys(cursor, consumer)
        producers = _producers(cursor, consumer)
        sent, sampled_since = _sent(cursor, consumer, axis)
        cursor.execute(SQL["gaps"], {"bounds": bounds, "consumer": consumer, "sample": _SAMPLE})
        gaps = cursor.fetchall()
    mine = [each for each in grown if consumer in (None, each.consumer_id)]
    received = counters.series((each for each in mine if each.name == "received"), axis)
    received_by: dict[str, float] = defaultdict(float)
    for each in mine:
        if each.name == "received":
            received_by[names.get(each.consumer_id, "?")] += each.value
    series = _series(mine, axis, names)
    came, again = sum(received), sum(each.total for each in series)
    return Duplicates(
        minutes=tuple(axis),
        series=series,
        received=received,
        received_by=dict(received_by),
        sent=sent,
        sampled_since=sampled_since,
        duplicates_window=again,
        received_window=came,
        ratio_window=again / came if came else None,
        runs_avoided_total=sum(t.value for t in totals if consumer in (None, t.consumer_id)),
        top_keys=top_keys,
        producers=producers,
        gaps=_buckets(bounds, {row[0]: row[1] for row in gaps}),
        gaps_sampled=sum(row[1] for row in gaps),
        longest_gap_seconds=max((row[2] for row in gaps), default=None),
        retention_seconds=kept,
    )


def rates(figures: Duplicates, *, by: str) -> tuple[Rate, ...]:
    """The rate of each consumer, cause, origin or type, those with most duplicates first.

    Of the whole window by consumer and cause, since sampled_since by origin and type.
    """
    again: dict[str, float] = defaultdict(float)
    came: dict[str, float] = defaultdict(float)
    if by in ("origin", "type"):
        for sent in figures.sent:
            name = sent.origin if by == "origin" else sent.type
            again[name] += sum(sent.again)
            came[name] += sum(sent.again) + sent.firsts
    else:
        for one in figures.series:
            name = one.consumer if by == "consumer" else one.cause
            again[name] += one.total
            came[name] = figures.received_by.get(name, 0.0)
            if by == "cause":
                came[name] = figures.received_window
    found = [Rate(name=name, duplicates=again[name], deliveries=came[name]) for name in again]
    found.sort(key=lambda one: (-one.duplicates, one.name))
    return tuple(one for one in found if one.duplicates)


def _series(
    grown: list[counters.Minute], axis: list[datetime], names: dict[int, str]
) -> tuple[Series, ...]:
    parts: dict[tuple[int, str], list[counters.Minute]] = defaultdict(list)
    for each in grown:
        if each.name == "duplicates":
            parts[each.consumer_id, each.label].append(each)
    found = []
    for (owner, cause), points in sorted(parts.items()):
        values = counters.series(points, axis)
        found.append(
            Series(
                consumer_id=owner,
                consumer=names.get(owner, "?"),
                cause=cause,
                values=values,
                total=sum(values),
            )
        )
    return tuple(found)


def _top_keys(cursor: Cursor, consumer: int | None) -> tuple[TopKey, ...]:
    cursor.execute(SQL["top"], {"consumer": consumer, "sample": _SAMPLE})
    rows: list[tuple[Any, ...]] = cursor.fetchall()
    values = {
        "consumers": [row[4] for row in rows],
        "keys": [keys.dedup_key(row[2], row[3]) for row in rows],
    }
    cursor.execute(SQL["counted"], values)
    counted = dict(cursor.fetchall())
    return tuple(
        TopKey(
            message_id=row[0],
            consumer=row[1],
            key=row[3],
            recent=row[5],
            # A record may expire before its kept duplicates: then those are a lower bound.
            total=max(counted.get(row[0], 0), row[5]),
            last_at=row[6],
        )
        for row in rows
    )


def _producers(cursor: Cursor, consumer: int | None) -> tuple[Producer, ...]:
    cursor.execute(SQL["producers"], {"consumer": consumer, "sample": _PRODUCERS_SAMPLE})
    rows: list[tuple[Any, ...]] = cursor.fetchall()
    total = sum(row[2] for row in rows)
    return tuple(
        Producer(
            origin=row[0],
            type=row[1],
            count=row[2],
            share=row[2] / total,
            cause=row[3],
            gap_seconds=tuple(row[4]),
            last_at=row[5],
        )
        for row in rows
    )


def _sent(
    cursor: Cursor, consumer: int | None, axis: list[datetime]
) -> tuple[tuple[Sent, ...], datetime]:
    values = {"consumer": consumer, "sample": _PRODUCERS_SAMPLE, "since": axis[0]}
    cursor.execute(SQL["rates"], values)
    rows: list[tuple[Any, ...]] = cursor.fetchall()
    again: dict[tuple[str, str], dict[datetime, int]] = defaultdict(dict)
    firsts: dict[tuple[str, str], int] = defaultdict(int)
    for origin, type_, minute, count, first, _ in rows:
        if minute is None:
            firsts[origin, type_] += first
        else:
            again[origin, type_][minute] = count
    sent = tuple(
        Sent(
            origin=name[0],
            type=name[1],
            again=tuple(float(again[name].get(minute, 0)) for minute in axis),
            firsts=firsts[name],
        )
        for name in sorted({*again, *firsts})
    )
    return sent, max([axis[0], *(row[5] for row in rows)])


def _buckets(bounds: list[float], counts: dict[int, int]) -> tuple[GapBucket, ...]:
    return tuple(
        GapBucket(up_to_seconds=bound, count=counts.get(index, 0))
        for index, bound in enumerate([*bounds, None])
    )
