"""Same key, other payload: the records, and the verdict a person gives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from monitor.store.sql import Cursor, load

SQL = load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A mismatch and its first message; session, origin and key are None when that was purged."""

    id: int
    message_id: int
    consumer: int
    fingerprint: bytes
    verdict: str | None
    verdict_by: str | None
    verdict_at: datetime | None
    version: int
    session: int | None
    origin: str | None
    key: str | None


def find(cursor: Cursor, mismatch_id: int) -> Mismatch | None:
    """The mismatch of that id, or None. Locks nothing."""
    cursor.execute(SQL["find"], {"id": mismatch_id})
    row = cursor.fetchone()
    if row is None:
        return None
    return Mismatch(
        id=row[0],
        message_id=row[1],
        consumer=row[2],
        fingerprint=bytes(row[3]),
        verdict=row[4],
        verdict_by=row[5],
        verdict_at=row[6],
        version=row[7],
        session=row[8],
        origin=row[9],
        key=row[10],
    )


def next_message_id(cursor: Cursor) -> int:
    """An id behind every message that was accepted before."""
    cursor.execute(SQL["next_message_id"])
    row = cursor.fetchone()
    assert row is not None  # noqa: S101 - a sequence always answers
    return int(row[0])


def remember(cursor: Cursor, mismatch_id: int, *, new_id: int, dedup_key: UUID) -> int:
    """Make the second payload known under its own key. Returns 1, or 0 when the key is taken."""
    cursor.execute(SQL["remember"], {"id": mismatch_id, "new_id": new_id, "dedup_key": dedup_key})
    return int(cursor.rowcount)


def decide(  # noqa: PLR0913 - the columns of a verdict, by name
    cursor: Cursor,
    mismatch_id: int,
    *,
    verdict: str,
    actor: str,
    reason: str,
    seen: int,
    accepted_id: int | None = None,
) -> int:
    """Give the verdict. Returns 1, or 0 when somebody gave one before."""
    cursor.execute(
        SQL["decide"],
        {
            "id": mismatch_id,
            "verdict": verdict,
            "actor": actor,
            "reason": reason,
            "seen": seen,
            "accepted_id": accepted_id,
        },
    )
    return int(cursor.rowcount)


def accept(
    cursor: Cursor, mismatch_id: int, *, new_id: int, lane: int, session: int, key: str
) -> int:
    """Store the second payload as a ready message; the caller holds the lane. Returns 1."""
    cursor.execute(
        SQL["accept"],
        {"id": mismatch_id, "new_id": new_id, "lane": lane, "session": session, "key": key},
    )
    return int(cursor.rowcount)
