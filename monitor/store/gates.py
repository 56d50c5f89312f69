"""Gates: why a session does not run now. Every change wants the lock of the session's lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

from monitor.store.sql import Cursor, load

SQL = load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoloTurn:
    """A suspect session: its head and how often that failed. head None: nothing is waiting."""

    solo_until: int
    attempts: int
    head: int | None


def fail(  # noqa: PLR0913 - the columns of one upsert, by name
    cursor: Cursor,
    session: int,
    lane: int,
    *,
    head: int,
    attempts: int,
    delay_seconds: float,
    error: str,
) -> None:
    """The head failed `attempts` times so far: the session waits for its retry."""
    cursor.execute(
        SQL["fail"],
        {
            "session": session,
            "lane": lane,
            "head": head,
            "attempts": attempts,
            "delay_seconds": delay_seconds,
            "error": error,
        },
    )


def drop_retry(cursor: Cursor, session: int) -> None:
    """The head left the queue: its retry and starts are no reason any more."""
    cursor.execute(SQL["drop_retry"], {"session": session})


def hold_for_dead(cursor: Cursor, session: int, lane: int, *, message: int, error: str) -> None:
    """Policy "hold": the session waits until a person decides about its dead head."""
    cursor.execute(
        SQL["hold_for_dead"],
        {"session": session, "lane": lane, "dead_message": message, "error": error},
    )


def suspect(cursor: Cursor, session: int, lane: int, *, until: int) -> None:
    """A process died with a message of this session: run alone up to that id."""
    cursor.execute(SQL["suspect"], {"session": session, "lane": lane, "solo_until": until})


def solos(cursor: psycopg.Cursor[Any], first_lane: int, end_lane: int) -> list[tuple[int, int]]:
    """(session, lane) of suspect sessions that may run now, at most 50."""
    cursor.execute(SQL["solos"], {"first": first_lane, "end": end_lane}, prepare=False)
    return [(row[0], row[1]) for row in cursor.fetchall()]


def solo_turn(cursor: Cursor, session: int) -> SoloTurn | None:
    """The suspect session as it stands now; None when it is no suspect or shut."""
    cursor.execute(SQL["solo_head"], {"session": session})
    row = cursor.fetchone()
    if row is None:
        return None
    solo_until, attempts, head, waiting = row
    return SoloTurn(
        solo_until=solo_until, attempts=attempts if head == waiting else 0, head=waiting
    )


def count_start(cursor: Cursor, session: int, head: int) -> int:
    """Count one more start of the suspect head; how many there were, this one included."""
    cursor.execute(SQL["count_start"], {"session": session, "head": head})
    row = cursor.fetchone()
    return 0 if row is None else int(row[0])


def end_solo(cursor: Cursor, session: int) -> None:
    """The suspect head went through or is gone: end the solo turns when none is left."""
    cursor.execute(SQL["end_solo"], {"session": session})
