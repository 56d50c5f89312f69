"""The database's health: its tables and their upkeep, open transactions, and clocks that differ."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime

from monitor import conf
from monitor.domain.source import DAY_SECONDS
from monitor.reports.reading import Cursor
from monitor.store import sql

SQL = sql.load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A table with its indexes and partitions. rows_estimate None: never analysed.

    dead_rows: left by updates and deletes, to be cleaned away. vacuumed_at, analyzed_at: by
    anybody; None: never since the statistics were reset.
    """

    name: str
    total_bytes: int
    rows_estimate: int | None
    dead_rows: int
    vacuumed_at: datetime | None
    analyzed_at: datetime | None
    partitions: int

    @property
    def dead_share(self) -> float | None:
        """Dead rows among all, from 0 to 1; None when nobody knows how many there are."""
        if self.rows_estimate is None or not self.rows_estimate + self.dead_rows:
            return None
        return self.dead_rows / (self.rows_estimate + self.dead_rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition. bounds: what it may hold, as PostgreSQL writes it."""

    table: str
    name: str
    bounds: str
    total_bytes: int
    rows_estimate: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """An open transaction of another connection. has_snapshot: it sees rows as they were then."""

    pid: int
    application: str
    state: str
    since: datetime
    waits_for: str
    has_snapshot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Transactions that somebody prepared and did not end. since: the oldest."""

    count: int
    since: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How long the sender of a source may repeat a message, against how long its key is kept."""

    source: str
    repeats_seconds: float
    kept_seconds: float

    @property
    def margin_seconds(self) -> float:
        """For how long sender, broker or this product may be away until a copy runs again."""
        return self.kept_seconds - self.repeats_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is kept for how long, and how old the oldest is. payload: of done messages."""

    coverage: tuple[Coverage, ...]
    payload_seconds: float
    audit_seconds: float
    oldest_message_at: datetime | None
    oldest_done_at: datetime | None


def tables(cursor: Cursor) -> tuple[TableRow, ...]:
    """All tables of the inbox, the largest first."""
    cursor.execute(SQL["tables"])
    return tuple(
        TableRow(
            name=row[0],
            total_bytes=row[1],
            rows_estimate=row[2],
            dead_rows=row[3],
            vacuumed_at=row[4],
            analyzed_at=row[5],
            partitions=row[6],
        )
        for row in cursor.fetchall()
    )


def partitions(cursor: Cursor) -> tuple[Partition, ...]:
    """The partitions by table, in the order in which they were made."""
    cursor.execute(SQL["partitions"])
    return tuple(
        Partition(
            table=row[0], name=row[1], bounds=row[2], total_bytes=row[3], rows_estimate=row[4]
        )
        for row in cursor.fetchall()
    )


def transactions(cursor: Cursor) -> tuple[Transaction, ...]:
    """The open transactions of others, the oldest first; at most 5."""
    cursor.execute(SQL["transactions"])
    return tuple(
        Transaction(
            pid=row[0],
            application=row[1],
            state=row[2],
            since=row[3],
            waits_for=row[4],
            has_snapshot=row[5],
        )
        for row in cursor.fetchall()
    )


def prepared(cursor: Cursor) -> Prepared:
    """Transactions prepared and never ended."""
    cursor.execute(SQL["prepared"])
    count, since = cursor.fetchone()
    return Prepared(count=count, since=since)


def kept(cursor: Cursor) -> Kept:
    """What the settings keep, for each source, and the oldest that is there."""
    settings = conf.get()
    retention = settings.retention
    cursor.execute(SQL["oldest_kept"])
    oldest_message_at, oldest_done_at = cursor.fetchone()
    return Kept(
        coverage=tuple(
            Coverage(
                source=source.name,
                repeats_seconds=float(source.redelivery_window_seconds),
                kept_seconds=retention.dedup_days * DAY_SECONDS,
            )
            for source in settings.sources.values()
        ),
        payload_seconds=retention.payload_days * DAY_SECONDS,
        audit_seconds=retention.audit_days * DAY_SECONDS,
        oldest_message_at=oldest_message_at,
        oldest_done_at=oldest_done_at,
    )


def skew_seconds(cursor: Cursor) -> float:
    """How far this process's clock is before the database's; below 0: behind it."""
    before = time.time()
    cursor.execute(SQL["now"])
    (theirs,) = cursor.fetchone()
    return (before + time.time()) / 2 - float(theirs)
