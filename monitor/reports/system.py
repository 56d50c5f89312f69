"""System: workers, table sizes, and whether the books balance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRow:
    """One process life. is_live: its heartbeat is at most 10 s old. running: its announced ids."""

    slot: int
    process: str
    host: str
    pid: int
    started_at: datetime
    at: datetime
    is_live: bool
    running: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """Size of a table with its indexes and partitions; rows_estimate None: never analysed."""

    name: str
    total_bytes: int
    rows_estimate: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """Accepted must equal the sum of the states. balanced None: too many rows to count in time."""

    accepted: int
    ready: int
    done: int
    dead: int
    discarded: int
    balanced: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """The figures of the System page."""

    workers: tuple[WorkerRow, ...]
    tables: tuple[TableRow, ...]
    books: Books
    snapshot_at: datetime | None
    unfolded_deltas: int
    database_version: str
    now: datetime


def read() -> System:
    """The figures of the System page."""
    raise NotImplementedError


def live_workers() -> int:
    """How many worker processes have sent a heartbeat within 10 s."""
    raise NotImplementedError
