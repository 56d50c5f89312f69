"""Messages: find one, list the newest, tell everything about one."""

from __future__ import annotations

from typing import Any

from monitor.domain.states import State
from monitor.reports import message_detail, message_rows
from monitor.reports.message_values import (
    Dead,
    Detail,
    Done,
    DuplicateRow,
    Found,
    Gate,
    MessageRow,
    MismatchLink,
    Moment,
    SessionMatch,
)
from monitor.reports.page import FIRST_ID, LIMIT, Page, Place, bounded, build, place
from monitor.reports.reading import Cursor, is_storable, reading
from monitor.store import sql

__all__ = [
    "Dead",
    "Detail",
    "Done",
    "DuplicateRow",
    "Found",
    "Gate",
    "MessageRow",
    "MismatchLink",
    "Moment",
    "SessionMatch",
    "detail",
    "find",
    "page",
]

SQL = sql.load(__file__)

_WINDOW = 20_000  # messages one page looks through for a state or a consumer before it stops
_SEARCHED = (State.READY, State.DONE)  # the others stand in small tables of their own


def find(text: str, *, limit: int = LIMIT) -> Found:
    """Messages by id or key prefix and sessions by key prefix; nothing for an empty text."""
    limit = bounded(limit)
    if not text or not is_storable(text):
        return Found(messages=(), sessions=(), more=False)
    values: dict[str, Any] = {"pattern": _prefix(text), "count": limit + 1}
    with reading() as cursor:
        cursor.execute(SQL["find_keys"], values)
        ids = [row[0] for row in cursor.fetchall()]
        cursor.execute(SQL["find_sessions"], values)
        sessions = [
            SessionMatch(id=row[0], consumer_id=row[1], consumer=row[2], key=row[3])
            for row in cursor.fetchall()
        ]
        exact = _as_id(text)
        if exact is not None:
            ids = [exact, *(each for each in ids if each != exact)]
        rows = message_rows.of(cursor, ids)
    return Found(
        messages=tuple(rows[:limit]),
        sessions=tuple(sessions[:limit]),
        more=len(rows) > limit or len(sessions) > limit,
    )


def page(
    cursor: str | None = None,
    *,
    limit: int = LIMIT,
    consumer: int | None = None,
    state: State | None = None,
    session: int | None = None,
) -> Page[MessageRow]:
    """Messages, newest first. Raises ReportTimeoutError and CursorError.

    A page looks through 20,000 messages at most; when it stops there it says partial and goes on
    from there with next.
    """
    start, limit = place(cursor, int), bounded(limit)
    statement = "every" if state is None else str(state)
    values: dict[str, Any] = {
        "back": start.back,
        "id": start.id,
        "count": limit + 1,
        "window": limit + 1 if state is None and consumer is None else _WINDOW,
        "consumer": consumer,
        "session": session,
    }
    with reading() as open_cursor:
        open_cursor.execute(SQL[statement], values)
        ids = sorted((row[0] for row in open_cursor.fetchall()), reverse=True)
        is_search = state in _SEARCHED or (state is None and consumer is not None)
        edge = _edge(open_cursor, values) if is_search and len(ids) <= limit else None
        rows = message_rows.of(open_cursor, ids)
    found = build(rows, start, limit, key=lambda row: (row.id, row.id))
    return found if edge is None else _stopped(found, start, edge)


def detail(message_id: int) -> Detail | None:
    """Everything about one message but its payload; None: there is no such message."""
    if abs(message_id) > FIRST_ID:
        return None
    with reading() as cursor:
        rows = message_rows.of(cursor, [message_id])
        return message_detail.read(cursor, rows[0]) if rows else None


def _edge(cursor: Cursor, values: dict[str, Any]) -> int | None:
    """The last message looked at when a search stopped at its bound; None: it saw the end."""
    cursor.execute(SQL["edge"], values)
    row = cursor.fetchone()
    return None if row is None else int(row[0])


def _stopped(found: Page[MessageRow], start: Place, edge: int) -> Page[MessageRow]:
    onward = Place(sort=str(edge), id=edge, back=start.back).text()
    if start.back:
        return Page(rows=found.rows, next=found.next, previous=onward, partial=True)
    return Page(rows=found.rows, next=onward, previous=found.previous, partial=True)


def _as_id(text: str) -> int | None:
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(FIRST_ID))
    return int(text) if is_number and int(text) <= FIRST_ID else None


def _prefix(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return escaped + "%"
