"""System: workers, the database's health, and whether the books balance."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from monitor.reports import consumers, counters, database
from monitor.reports.database import Kept, Partition, Prepared, TableRow, Transaction
from monitor.reports.reading import Cursor, reading
from monitor.store import sql
from monitor.store.safety import Durability, durability

__all__ = [
    "Books",
    "Durability",
    "System",
    "TableRow",
    "WorkerRow",
    "dedup_records",
    "durability",
    "last_heartbeat",
    "live_workers",
    "read",
]

SQL = sql.load(__file__)

LIVE_SECONDS = 10  # a worker writes its heartbeat every 2 s
# What makes a message: ingest, or the verdict that accepts a second payload.
_ACCEPTED = {("received", "new"), ("operator_actions", "accept second")}
_COUNTED = 1_000_000  # rows the books count of one table before they give up


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRow:
    """One process life. is_live: its heartbeat is at most 10 s old."""

    slot: int
    process: str
    host: str
    pid: int
    started_at: datetime
    at: datetime
    is_live: bool
    running: tuple[int, ...]  # ids of its latest batch; some may be through already
    skew_seconds: float | None  # its clock before the database's at its start or last heartbeat


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """Accepted must equal the sum of the states. balanced None: too many rows to count in time."""

    accepted: int
    ready: int
    done: int
    dead: int
    discarded: int
    in_doubt: int
    balanced: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """The figures of the System page."""

    workers: tuple[WorkerRow, ...]
    tables: tuple[TableRow, ...]
    partitions: tuple[Partition, ...]
    transactions: tuple[Transaction, ...]
    prepared: Prepared
    kept: Kept
    skew_seconds: float  # of the process that asks
    books: Books
    snapshot_at: datetime | None
    unfolded_deltas: int
    database_version: str
    durability: Durability
    now: datetime = field(repr=False)  # so that equal figures have equal texts


def read() -> System:
    """The figures of the System page."""
    with reading() as cursor:
        cursor.execute(SQL["about"])
        version, now, unfolded = cursor.fetchone()
        return System(
            workers=_workers(cursor),
            tables=database.tables(cursor),
            partitions=database.partitions(cursor),
            transactions=database.transactions(cursor),
            prepared=database.prepared(cursor),
            kept=database.kept(cursor),
            skew_seconds=database.skew_seconds(cursor),
            books=_books(cursor),
            snapshot_at=consumers.snapshot_at(cursor),
            unfolded_deltas=unfolded,
            database_version=version,
            durability=durability(cursor),
            now=now,
        )


def live_workers(cursor: Cursor) -> int:
    """How many worker processes have sent a heartbeat within 10 s."""
    cursor.execute(SQL["live"], {"seconds": LIVE_SECONDS})
    (found,) = cursor.fetchone()
    return int(found)


def last_heartbeat(cursor: Cursor) -> datetime | None:
    """When a worker last sent a heartbeat; None: never, or its row is gone."""
    cursor.execute(SQL["last_heartbeat"])
    found: datetime | None = cursor.fetchone()[0]
    return found


def dedup_records(cursor: Cursor) -> int | None:
    """An estimate of the dedup records; None: the table was never analysed."""
    return next(t.rows_estimate for t in database.tables(cursor) if t.name == "comboio_dedup")


def _workers(cursor: Cursor) -> tuple[WorkerRow, ...]:
    cursor.execute(SQL["workers"], {"seconds": LIVE_SECONDS})
    return tuple(
        WorkerRow(
            slot=row[0],
            process=row[1],
            host=row[2],
            pid=row[3],
            started_at=row[4],
            at=row[5],
            is_live=row[6],
            running=tuple(row[7]),
            skew_seconds=row[8],
        )
        for row in cursor.fetchall()
    )


def _books(cursor: Cursor) -> Books:
    totals = counters.totals(cursor, ("received", "processed", "operator_actions", "purged"))
    accepted = sum(t.value for t in totals if (t.name, t.label) in _ACCEPTED)
    done = sum(t.value for t in totals if t.name == "processed" and t.label in ("done", "skipped"))
    cursor.execute(SQL["states"], {"count": _COUNTED + 1})
    ready, dead, discarded, in_doubt = cursor.fetchone()
    is_whole = max(ready, dead, discarded, in_doubt) <= _COUNTED
    purged = sum(t.value for t in totals if (t.name, t.label) == ("purged", "discarded"))
    discarded += int(purged)  # as done ones: all that ever were
    standing = ready + int(done) + dead + discarded + in_doubt
    return Books(
        accepted=int(accepted),
        ready=ready,
        done=int(done),
        dead=dead,
        discarded=discarded,
        in_doubt=in_doubt,
        balanced=int(accepted) == standing if is_whole else None,
    )
