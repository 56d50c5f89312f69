"""What is old enough to go: found and deleted in chunks, by the database's clock alone.

Every function wants a transaction, commits nothing and takes the age in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from monitor.store.sql import Cursor, load

SQL = load(__file__)

Ended = Literal["done", "discarded"]
Record = Literal["alerts", "triage", "clicks", "audit"]
Swept = Literal["comboio_dedup", "comboio_session"]


@dataclass(frozen=True, slots=True)
class Walked:
    """An ended message on the way through all of them, in the order of their ids."""

    id: int
    is_old: bool
    is_beyond: bool  # it came so lately that nothing behind it can be old


def walk(cursor: Cursor, ended: Ended, *, after: int, limit: int, seconds: float) -> list[Walked]:
    """The next ended messages behind an id; fewer than the limit at the end of the walk."""
    values = {"after": after, "limit": limit, "seconds": seconds}
    cursor.execute(SQL[f"walk_{ended}"], values)
    return [Walked(*row) for row in cursor.fetchall()]


def free(cursor: Cursor, ended: Ended, ids: Sequence[int], *, key_seconds: float) -> list[int]:
    """Those of these old messages that nobody needs any more, in their order.

    Their effects are locked, and the rows of discarded ones, so that none of them changes.
    """
    if ended == "discarded":
        ids = sorted(_ids(cursor, "lock_discarded", ids=list(ids)))
    if not ids:
        return []
    needed = _ids(cursor, "kept", ids=list(ids), seconds=key_seconds)
    needed |= _ids(cursor, "unsettled", ids=list(ids))
    return [each for each in ids if each not in needed]


def forget_messages(cursor: Cursor, ids: Sequence[int]) -> int:
    """Delete these ended messages with their history and payload; how many there were."""
    cursor.execute(SQL["forget_messages"], {"ids": list(ids)})
    return int(cursor.rowcount)


def blocks(cursor: Cursor, table: Swept) -> int:
    """How many blocks the table has now."""
    cursor.execute(SQL["blocks"], {"table": table})
    row = cursor.fetchone()
    assert row is not None  # noqa: S101 - a function call gives one row
    return int(row[0])


def forget_keys(cursor: Cursor, *, first: int, end: int, seconds: float) -> int:
    """Delete the old dedup rows of these blocks whose message is gone; how many."""
    cursor.execute(SQL["forget_keys"], _among(first, end, seconds))
    gone = [row[0] for row in cursor.fetchall()]
    if gone:
        cursor.execute(SQL["forget_traces"], {"ids": gone})
    return len(gone)


def unused_sessions(
    cursor: Cursor, *, first: int, end: int, seconds: float
) -> list[tuple[int, int]]:
    """Sessions of these blocks that nothing refers to, with their consumers."""
    cursor.execute(SQL["unused_sessions"], _among(first, end, seconds))
    return [(row[0], row[1]) for row in cursor.fetchall()]


def forget_sessions(cursor: Cursor, ids: Sequence[int], *, seconds: float) -> list[int]:
    """Delete those of the sessions that are still unused; which. The caller holds their lanes.

    Until session_writers() names none of those it names now, one of them may get a message.
    """
    return sorted(_ids(cursor, "forget_sessions", ids=list(ids), seconds=seconds))


def session_writers(cursor: Cursor) -> set[str]:
    """The open transactions that wrote, or looked for, a session."""
    cursor.execute(SQL["session_writers"])
    return {row[0] for row in cursor.fetchall()}


def is_used(cursor: Cursor, ids: Sequence[int]) -> bool:
    """Whether one of the sessions has a message."""
    cursor.execute(SQL["is_used"], {"ids": list(ids)})
    row = cursor.fetchone()
    return bool(row and row[0])


def forget_progress(cursor: Cursor, ids: Sequence[int]) -> None:
    """Delete the numbers and versions of forgotten sessions. The caller holds their lanes."""
    cursor.execute(SQL["forget_progress"], {"ids": list(ids)})


def forget_records(cursor: Cursor, what: Record, *, limit: int, seconds: float) -> int:
    """Delete at most limit old rows, the oldest first; how many."""
    cursor.execute(SQL[f"forget_{what}"], {"limit": limit, "seconds": seconds})
    return int(cursor.rowcount)


def _among(first: int, end: int, seconds: float) -> dict[str, Any]:
    return {"first": f"({first},0)", "end": f"({end},0)", "seconds": seconds}


def _ids(cursor: Cursor, name: str, **values: Any) -> set[int]:
    cursor.execute(SQL[name], values)
    return {row[0] for row in cursor.fetchall()}
