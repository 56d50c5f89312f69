"""What an operator shuts and opens: sessions, by their gates, and whole consumers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.store.sql import Cursor, load

SQL = load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session and what shuts it. version None: it has no gate."""

    id: int
    consumer: int
    consumer_name: str
    key: str
    held: bool
    held_by: str | None
    dead_message: int | None
    version: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """A gate that named a dead message. held_it: by that message; is_open: nothing holds it now."""

    session: int
    held_it: bool
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Who works on a session of an external consumer. key "": the message has no session."""

    session: int
    consumer: int
    consumer_name: str
    key: str
    message_id: int
    fence: int
    is_over: bool
    is_stolen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldConsumer:
    """A consumer and its hold; held is false once the hold's end has passed."""

    id: int
    name: str
    held: bool
    held_by: str | None
    held_at: datetime | None
    version: int


def session(cursor: Cursor, session_id: int) -> Session | None:
    """The session with its gate; None when there is no such session."""
    cursor.execute(SQL["session"], {"session": session_id})
    row = cursor.fetchone()
    if row is None:
        return None
    return Session(
        id=row[0],
        consumer=row[1],
        consumer_name=row[2],
        key=row[3],
        held=row[4],
        held_by=row[5],
        dead_message=row[6],
        version=row[7],
    )


def hold(cursor: Cursor, session_id: int, lane: int, *, actor: str, reason: str) -> int:
    """Shut a session; the caller holds its lane. Returns 1, or 0 when it was held already."""
    cursor.execute(
        SQL["hold"], {"session": session_id, "lane": lane, "actor": actor, "reason": reason}
    )
    return int(cursor.rowcount)


def resume(cursor: Cursor, session_id: int, *, seen: int) -> int:
    """Take the operator's hold away; the caller holds the lane. 0: it is no longer as seen."""
    cursor.execute(SQL["resume"], {"session": session_id, "seen": seen})
    return int(cursor.rowcount)


def release(cursor: Cursor, sessions: Sequence[int], ids: Sequence[int]) -> list[Released]:
    """Let sessions go on that these dead messages held. The caller holds their lanes."""
    cursor.execute(SQL["release"], {"sessions": sorted(set(sessions)), "ids": list(ids)})
    return [
        Released(session=session, held_it=held_it, is_open=is_open)
        for session, held_it, is_open in cursor.fetchall()
    ]


def lease(cursor: Cursor, session_id: int) -> Lease | None:
    """The lease of a session, also one that ran out; None when nobody works on it."""
    cursor.execute(SQL["lease"], {"session": session_id})
    row = cursor.fetchone()
    if row is None:
        return None
    return Lease(
        session=row[0],
        consumer=row[1],
        consumer_name=row[2],
        key=row[3] or "",
        message_id=row[4],
        fence=row[5],
        is_over=row[6],
        is_stolen=row[7],
    )


def steal(cursor: Cursor, session_id: int, *, seen: int) -> int:
    """Take a live lease from its holder. Returns 1, or 0 when the fence is no longer as seen."""
    cursor.execute(SQL["steal"], {"session": session_id, "seen": seen})
    return int(cursor.rowcount)


def consumer(cursor: Cursor, consumer_id: int) -> HeldConsumer | None:
    """The consumer and its hold; None when there is no such consumer."""
    cursor.execute(SQL["consumer"], {"consumer": consumer_id})
    row = cursor.fetchone()
    if row is None:
        return None
    return HeldConsumer(
        id=row[0], name=row[1], held=row[2], held_by=row[3], held_at=row[4], version=row[5]
    )


def hold_consumer(
    cursor: Cursor, consumer_id: int, *, actor: str, reason: str, until: datetime | None
) -> int:
    """Let nothing of the consumer be claimed. Returns 1, or 0 when it is held already."""
    cursor.execute(
        SQL["hold_consumer"],
        {"consumer": consumer_id, "actor": actor, "reason": reason, "until": until},
    )
    return int(cursor.rowcount)


def resume_consumer(cursor: Cursor, consumer_id: int, *, seen: int) -> int:
    """Let the consumer run again. Returns 1, or 0 when it is no longer as seen."""
    cursor.execute(SQL["resume_consumer"], {"consumer": consumer_id, "seen": seen})
    return int(cursor.rowcount)
