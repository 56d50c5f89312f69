"""Dead letters: one by one and grouped by cause."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.reports import effect_rows
from monitor.reports.effect_values import Recorded
from monitor.reports.page import FIRST_ID, LIMIT, Page, bounded, build, place
from monitor.reports.reading import Cursor, is_storable, reading
from monitor.store import sql

SQL = sql.load(__file__)

CAP = 10_000  # a cause is counted exactly up to here
_MOST_CAUSES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterRow:
    """A dead message. holds_session: its session waits for it. version: what its verbs name.

    recorded: the effects that a requeue would meet; None: no effect is recorded.
    """

    id: int
    consumer_id: int
    consumer: str
    key: str
    type: str
    session_id: int | None
    session: str
    reason: str
    error_class: str
    error: str
    cause: str
    attempts: int
    at: datetime
    holds_session: bool
    version: int
    recorded: Recorded | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Dead messages of one cause. count 10,001 means more than 10,000.

    max_version: what requeue_cause takes as up_to_version, so that later failures stay out.
    recorded: the effects of all of them that a requeue would meet; None: no effect is recorded.
    """

    cause: str
    reason: str
    error_class: str
    count: int
    first_at: datetime
    last_at: datetime
    sample_id: int
    sample_error: str
    consumers: tuple[str, ...]
    sessions_held: int
    max_version: int
    recorded: Recorded | None


def page(
    cursor: str | None = None,
    *,
    limit: int = LIMIT,
    consumer: int | None = None,
    cause: str | None = None,
    session: int | None = None,
) -> Page[DeadLetterRow]:
    """Dead messages, newest first. Raises ReportTimeoutError and CursorError."""
    start, limit = place(cursor, datetime), bounded(limit)
    if not is_storable(cause or ""):
        return Page(rows=())
    values: dict[str, Any] = {
        "back": start.back,
        "sort": start.sort,
        "id": start.id,
        "count": limit + 1,
        "consumer": consumer,
        "cause": cause,
        "session": session,
    }
    with reading() as open_cursor:
        open_cursor.execute(SQL["newest"], values)
        ids = [row[0] for row in open_cursor.fetchall()]
        rows = _rows(open_cursor, ids)
    return build(rows, start, limit, key=lambda row: (row.at, row.id))


def groups(*, consumer: int | None = None) -> tuple[Group, ...]:
    """Dead messages by cause, most first; at most 200 causes."""
    with reading() as cursor:
        cursor.execute(SQL["causes"], {"count": _MOST_CAUSES})
        found = by_cause(cursor, [row[0] for row in cursor.fetchall()], consumer)
    return tuple(sorted(found, key=lambda group: (-group.count, group.cause)))


def group(cause: str) -> Group | None:
    """One cause, or None when no dead message has it."""
    if not is_storable(cause):
        return None
    with reading() as cursor:
        found = by_cause(cursor, [cause])
    return found[0] if found else None


def detail(message_id: int) -> DeadLetterRow | None:
    """One dead message, or None when it is not dead (any more)."""
    if abs(message_id) > FIRST_ID:
        return None
    with reading() as cursor:
        rows = _rows(cursor, [message_id])
    return rows[0] if rows else None


def by_cause(cursor: Cursor, causes: list[str], consumer: int | None = None) -> list[Group]:
    """The groups of these causes that still have dead messages."""
    values = {"causes": causes, "consumer": consumer, "count": CAP + 1}
    cursor.execute(SQL["groups"], values)
    rows = cursor.fetchall()
    effects = _effects(cursor, values, rows)
    return [
        Group(
            cause=row[0],
            reason=row[1],
            error_class=row[2],
            sample_id=row[3],
            sample_error=row[4],
            count=row[5],
            first_at=row[6],
            last_at=row[7],
            max_version=row[8],
            consumers=tuple(row[9]),
            sessions_held=row[10],
            recorded=effects.get(row[0]),
        )
        for row in rows
    ]


def _effects(
    cursor: Cursor, values: dict[str, Any], rows: list[tuple[Any, ...]]
) -> dict[str, Recorded]:
    """The effects that a requeue of each group would meet; only callers have any."""
    cursor.execute(SQL["callers"])
    callers = {name for (name,) in cursor.fetchall()}
    called = [row[0] for row in rows if not callers.isdisjoint(row[9])]
    if not called:
        return {}
    cursor.execute(SQL["effects_of_causes"], {**values, "causes": called})
    return {
        row[0]: Recorded(completed=row[1], unknown=row[2], completed_at=row[3], without=row[4])
        for row in cursor.fetchall()
    }


def _rows(cursor: Cursor, ids: list[int]) -> list[DeadLetterRow]:
    cursor.execute(SQL["rows"], {"ids": ids})
    values = cursor.fetchall()
    effects = effect_rows.recorded(cursor, ids)
    found = {row[0]: _row(row, effects.get(row[0])) for row in values}
    return [found[each] for each in ids if each in found]


def _row(values: tuple[Any, ...], recorded: Recorded | None) -> DeadLetterRow:
    return DeadLetterRow(
        id=values[0],
        consumer_id=values[1],
        consumer=values[2],
        key=values[3],
        type=values[4],
        session_id=values[5],
        session=values[6],
        reason=values[7],
        error_class=values[8],
        error=values[9],
        cause=values[10],
        attempts=values[11],
        at=values[12],
        holds_session=values[13],
        version=values[14],
        recorded=recorded,
    )
