"""How far the sessions with sequence numbers have come, and what they wait for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.store.queue import LANES_PER_CONSUMER
from monitor.store.sql import Cursor, load

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class Passed:
    """A numbered message that left the queue, done or dead."""

    session: int
    lane: int
    number: int
    is_last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A session that has waited too long for number `missing`; `before` waits behind it."""

    session: int
    key: str
    missing: int
    before: int


def advance(cursor: Cursor, passed: Sequence[Passed]) -> list[int]:
    """Expect the next number of each session. Sessions whose gap had an alert: it can close.

    Wants the lanes, in the transaction in which the messages leave the queue.
    """
    last: dict[int, Passed] = {}
    for each in sorted(passed, key=lambda one: one.number):
        last[each.session] = each
    if not last:
        return []
    found = list(last.values())
    cursor.execute(
        SQL["advance"],
        {
            "sessions": [each.session for each in found],
            "lanes": [each.lane for each in found],
            "next": [each.number + 1 for each in found],
            "ended": [any(p.is_last and p.session == e.session for p in passed) for e in found],
        },
    )
    return [row[0] for row in cursor.fetchall()]


def note_gap(cursor: Cursor, session: int, lane: int, *, missing: int, before: int) -> None:
    """The session waits for number `missing`; `before` is the lowest behind it. Wants the lane."""
    cursor.execute(
        SQL["note_gap"], {"session": session, "lane": lane, "next": missing, "before": before}
    )


def adopt(cursor: Cursor, consumer: int) -> int:
    """Give a place to what came before the consumer ran by number; how many messages."""
    cursor.execute(SQL["adopt"], _lanes(consumer))
    return cursor.rowcount


def overdue(cursor: Cursor, consumer: int, seconds: float) -> list[Gap]:
    """Gaps older than so many seconds that were not told yet; from now on they count as told."""
    cursor.execute(SQL["overdue"], {**_lanes(consumer), "seconds": seconds})
    return [
        Gap(session=session, key=key, missing=missing, before=before)
        for session, key, missing, before in cursor.fetchall()
    ]


def first_waiting(cursor: Cursor, session: int, lane: int) -> tuple[int, int] | None:
    """The lowest number that waits in the session, and its message; None when none does."""
    cursor.execute(SQL["first_waiting"], {"session": session, "lane": lane})
    row = cursor.fetchone()
    return None if row is None else (row[0], row[1])


def skip(cursor: Cursor, session: int, *, seen: int, to: int) -> bool:
    """Give up the numbers from seen up to `to`. False: the session does not wait for seen now."""
    cursor.execute(SQL["skip"], {"session": session, "seen": seen, "to": to})
    return cursor.rowcount == 1


def _lanes(consumer: int) -> dict[str, int]:
    first = consumer * LANES_PER_CONSUMER
    return {"first": first, "end": first + LANES_PER_CONSUMER}
