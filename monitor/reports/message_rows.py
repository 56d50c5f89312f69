"""Reads the rows of messages by id: used by every list that shows messages."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.reports import states
from monitor.reports.message_values import Gate, MessageRow
from monitor.reports.reading import Cursor
from monitor.store import sql

SQL = sql.load(__file__)

_UNKNOWN = states.Standing(state=None)


def of(cursor: Cursor, ids: Sequence[int]) -> list[MessageRow]:
    """The rows of these messages in the order given; purged ones are left out."""
    if not ids:
        return []
    standings = states.of(cursor, ids)
    cursor.execute(SQL["rows"], {"ids": list(ids)})
    found = {}
    for values in cursor.fetchall():
        standing = standings.get(values[0], _UNKNOWN)
        found[values[0]] = MessageRow(
            id=values[0],
            consumer_id=values[1],
            consumer=values[2],
            state=standing.state,
            parked=standing.parked,
            source=values[3],
            origin=values[4],
            key=values[5],
            type=values[6],
            session_id=values[7],
            session=values[8],
            sequence=values[9],
            received_at=values[10],
            payload_bytes=values[11],
            due_at=standing.due_at,
            reason=standing.reason,
        )
    return [found[each] for each in ids if each in found]


def gate(cursor: Cursor, session_id: int) -> Gate | None:
    """Why this session does not run now, or None when nothing shuts it."""
    cursor.execute(SQL["gate"], {"session": session_id})
    row = cursor.fetchone()
    if row is None:
        return None
    return Gate(
        session_id=session_id,
        held=row[0],
        held_by=row[1],
        held_reason=row[2],
        dead_message=row[3],
        retry_at=row[4],
        head=row[5],
        attempts=row[6],
        solo_until=row[7],
        starts=row[8],
        error=row[9],
        since=row[10],
        version=row[11],
    )
