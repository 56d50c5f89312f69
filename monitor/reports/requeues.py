"""Requeues of many: what one would touch, how far each is, and what did not go well."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from monitor.domain.scope import MOST, Scope, still_to_come
from monitor.reports import dead_letters
from monitor.reports.dead_letters import DeadLetterRow
from monitor.reports.page import FIRST_ID, LIMIT, Page, bounded, build, place
from monitor.reports.reading import is_storable, reading
from monitor.store import bulks, sql

SQL = sql.load(__file__)

SAMPLES = 5
_SHOWN = 50
_UNWELL = ("failed again", "refused")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a requeue would touch. count 100,001 means more than 100,000.

    max_version: what bulk.start takes as up_to_version. unrouted: messages that nobody took when
    they came in, which are routed again. held: sessions that a person holds, whose messages wait
    until they are resumed. opened: sessions that go on by it. reasons, consumers: (name, how many).
    running: the requeue of the same scope that is on its way, so that none can be started.
    """

    count: int
    max_version: int
    first_at: datetime | None
    last_at: datetime | None
    sessions: int
    unrouted: int
    held: int
    opened: int
    reasons: tuple[tuple[str, int], ...]
    consumers: tuple[tuple[str, int], ...]
    samples: tuple[DeadLetterRow, ...]
    running: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequeueRow:
    """One requeue of many: its scope ("" or None: of any), pace, and how far it is.

    state: canary, waiting (for a person), running, stopped or done. moved: put back, of which
    processed and failed_again are known, and the rest still wait for their outcome.
    """

    id: int
    state: str
    why: str
    cause: str
    consumer: str
    session_id: int | None
    session: str
    actor: str
    reason: str
    per_second: float | None
    failure_limit: float
    started_at: datetime
    ended_at: datetime | None
    total: int
    moved: int
    processed: int
    failed_again: int
    gone: int
    refused: int
    version: int

    @property
    def left(self) -> int:
        """Messages whose turn is still to come, or that stay dead after a stop."""
        return still_to_come(
            total=self.total, moved=self.moved, gone=self.gone, refused=self.refused
        )

    @property
    def failure_percent(self) -> int:
        """The share of failures that stops it, in percent."""
        return round(self.failure_limit * 100)

    @property
    def unknown(self) -> int:
        """Messages that were put back and have no outcome yet."""
        return self.moved - self.processed - self.failed_again


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A message of a requeue that did not go well, and why."""

    id: int
    state: str
    key: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """One requeue. busy: how many wait for a busy session; 1,001 means more than 1,000."""

    row: RequeueRow
    busy: int
    unwell: tuple[Member, ...]


def plan(
    *, cause: str | None = None, consumer: int | None = None, session: int | None = None
) -> Plan:
    """What a requeue of these dead letters would touch now. Raises ReportTimeoutError."""
    if not is_storable(cause or ""):
        cause = ""
    scope = Scope(cause=cause, consumer=consumer, session=session)
    values = {**asdict(scope), "count": MOST + 1}
    samples = dead_letters.page(limit=SAMPLES, **asdict(scope))
    with reading() as cursor:
        cursor.execute(SQL["plan"], values)
        totals = cursor.fetchone()
        running = bulks.running_of(cursor, scope)
    return Plan(
        count=totals[0],
        max_version=totals[1],
        first_at=totals[2],
        last_at=totals[3],
        sessions=totals[4],
        unrouted=totals[5],
        held=totals[6],
        opened=totals[7],
        reasons=_parts(totals[8]),
        consumers=_parts(totals[9]),
        samples=samples.rows,
        running=running,
    )


def page(cursor: str | None = None, *, limit: int = LIMIT) -> Page[RequeueRow]:
    """Requeues of many, newest first. Raises ReportTimeoutError and CursorError."""
    start, limit = place(cursor, int), bounded(limit)
    values = {"back": start.back, "id": start.id, "count": limit + 1}
    with reading() as open_cursor:
        open_cursor.execute(SQL["newest"], values)
        rows = [_row(found) for found in open_cursor.fetchall()]
    return build(rows, start, limit, key=lambda row: (row.id, row.id))


def detail(number: int) -> Detail | None:
    """One requeue, or None."""
    if abs(number) > FIRST_ID:
        return None
    with reading() as cursor:
        cursor.execute(SQL["one"], {"id": number})
        found = cursor.fetchone()
        if found is None:
            return None
        cursor.execute(SQL["busy"], {"id": number})
        (busy,) = cursor.fetchone()
        cursor.execute(SQL["members"], {"id": number, "states": list(_UNWELL), "count": _SHOWN})
        unwell = tuple(
            Member(id=id_, state=state, key=key, error=error)
            for id_, state, key, error in cursor.fetchall()
        )
    return Detail(row=_row(found), busy=busy, unwell=unwell)


def _parts(found: str) -> tuple[tuple[str, int], ...]:
    return tuple((name, count) for name, count in json.loads(found))


def _row(values: tuple[Any, ...]) -> RequeueRow:
    names = RequeueRow.__dataclass_fields__
    return RequeueRow(**dict(zip(names, values, strict=True)))
