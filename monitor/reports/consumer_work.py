"""What a consumer works on: which types take its time, and what each worker does now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.reports.reading import reading
from monitor.reports.system import LIVE_SECONDS
from monitor.store import sql

SQL = sql.load(__file__)

_MOST_TYPES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRow:
    """Runs of handlers that went through, of one type. is_rest: of all types beyond those kept."""

    type: str
    is_rest: bool
    runs: int
    seconds: float
    share: float  # of the time in handlers

    @property
    def milliseconds(self) -> float:
        """Of all its runs together."""
        return self.seconds * 1000.0

    @property
    def mean_milliseconds(self) -> float:
        """Of one run."""
        return self.milliseconds / self.runs if self.runs else 0.0

    @property
    def percent(self) -> int:
        """Its share, for a bar."""
        return round(self.share * 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Types:
    """Types by their time in handlers, the slowest first. types: how many there were in all."""

    since: datetime
    rows: tuple[TypeRow, ...]
    types: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRow:
    """A worker process and what it does. message_id None: it is between two messages of a batch.

    since: when the handler began. batch: how many messages it announced.
    """

    slot: int
    host: str
    pid: int
    release: str
    started_at: datetime
    message_id: int | None
    session: str
    since: datetime | None
    batch: int


def types(consumer_id: int, *, since: datetime) -> Types:
    """Which types took the consumer's time since the hour of that moment."""
    hour = since.replace(minute=0, second=0, microsecond=0)
    values: dict[str, Any] = {"consumer": consumer_id, "since": hour, "count": _MOST_TYPES}
    with reading() as cursor:
        cursor.execute(SQL["types"], values)
        found = cursor.fetchall()
    rows = tuple(
        TypeRow(
            type=row[0],
            is_rest=row[1],
            runs=int(row[2]),
            seconds=row[3],
            share=row[3] / row[4] if row[4] else 0.0,
        )
        for row in found
    )
    return Types(since=hour, rows=rows, types=found[0][5] if found else 0)


def workers(consumer_id: int) -> tuple[WorkRow, ...]:
    """The live processes that run the consumer's messages now, the longest run first."""
    with reading() as cursor:
        cursor.execute(SQL["workers"], {"consumer": consumer_id, "seconds": LIVE_SECONDS})
        return tuple(
            WorkRow(
                slot=row[0],
                host=row[1],
                pid=row[2],
                release=row[3],
                started_at=row[4],
                message_id=row[5],
                session=row[6],
                since=row[7],
                batch=row[8],
            )
            for row in cursor.fetchall()
        )
