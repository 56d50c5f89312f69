"""Leases: one process at a time works on a session of an external consumer, and can prove it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.store.sql import Cursor, load

SQL = load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A session in our hands. starts: how often its message began without an end, now included."""

    session: int
    lane: int
    message_id: int
    fence: int
    starts: int


def take(
    cursor: Cursor,
    session: int,
    lane: int,
    *,
    consumer: int,
    message: int,
    holder: tuple[int, float],
) -> Lease | None:
    """Lease the session to holder = (slot, seconds); None: another holds it. Wants the lane."""
    slot, seconds = holder
    cursor.execute(
        SQL["take"],
        {
            "session": session,
            "lane": lane,
            "consumer": consumer,
            "message": message,
            "slot": slot,
            "seconds": seconds,
        },
    )
    row = cursor.fetchone()
    if row is None:
        return None
    return Lease(session=session, lane=lane, message_id=message, fence=row[0], starts=row[1])


def expired(cursor: Cursor, consumer: int) -> list[tuple[int, int]]:
    """Some (session, lane) whose lease ran out."""
    cursor.execute(SQL["expired"], {"consumer": consumer})
    return [(row[0], row[1]) for row in cursor.fetchall()]


def forget(cursor: Cursor, session: int) -> None:
    """Drop a lease that ran out; the caller holds the lane and saw that nothing of it waits."""
    cursor.execute(SQL["forget"], {"session": session})


def shut(cursor: Cursor, sessions: Sequence[int]) -> set[int]:
    """Which of these sessions may not be taken now: leased, or behind an effect in doubt."""
    cursor.execute(SQL["shut"], {"sessions": list(sessions)})
    return {row[0] for row in cursor.fetchall()}


def holds(cursor: Cursor, lease: Lease) -> bool:
    """Whether the lease is ours, and stays so until the transaction ends."""
    cursor.execute(SQL["holds"], {"session": lease.session, "fence": lease.fence})
    return cursor.fetchone() is not None


def end(cursor: Cursor, lease: Lease) -> bool:
    """End the lease. False: it was lost, and the caller must roll back."""
    cursor.execute(SQL["end"], {"session": lease.session, "fence": lease.fence})
    return bool(cursor.rowcount == 1)


def give_back(cursor: Cursor, lease: Lease, seconds: float, *, has_begun: bool) -> bool:
    """Let others take the session after so many seconds. False: it is not ours any more."""
    cursor.execute(
        SQL["give_back"],
        {
            "session": lease.session,
            "fence": lease.fence,
            "seconds": seconds,
            "unstarted": 0 if has_begun else 1,
        },
    )
    return bool(cursor.rowcount == 1)


def renew(cursor: Cursor, leases: Sequence[tuple[int, float]]) -> list[tuple[int, int]]:
    """Prolong each (fence, seconds); (fence, consumer) of those still held and not locked."""
    cursor.execute(
        SQL["renew"],
        {"fences": [fence for fence, _ in leases], "seconds": [s for _, s in leases]},
    )
    return [(row[0], row[1]) for row in cursor.fetchall()]
