"""Gates: why a session does not run now. Every change wants the lock of the session's lane."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from monitor.store.sql import Cursor, load

SQL = load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoloTurn:
    """A suspect session: its head and how often that failed. head None: nothing is waiting.

    deaths: starts of the head that ended with the death of a worker; 0: none is counted yet.
    place: of a numbered one its number, next, whether it is ended, and the number behind its gap.
    """

    session: int
    lane: int
    solo_until: int
    attempts: int
    head: int | None
    deaths: int = 0
    place: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingHead:
    """The head of a session that waits for its retry. number: of a numbered session."""

    id: int
    number: int | None
    attempts: int
    error: str
    is_last: bool


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


def suspect(cursor: Cursor, suspects: Mapping[int, tuple[int, int]]) -> None:
    """A process died with messages of these sessions: {session: (lane, run alone up to this id)}.

    Wants the lanes.
    """
    if suspects:
        lanes, until = zip(*suspects.values(), strict=True)
        values = {"sessions": list(suspects), "lanes": list(lanes), "until": list(until)}
        cursor.execute(SQL["suspect"], values)


def are_solo(cursor: Cursor, sessions: Collection[int]) -> set[int]:
    """Which of these sessions run alone already."""
    cursor.execute(SQL["are_solo"], {"sessions": list(sessions)})
    return {row[0] for row in cursor.fetchall()}


def solos(
    cursor: psycopg.Cursor[Any], first_lane: int, end_lane: int, most: int
) -> list[tuple[int, int]]:
    """(session, lane) of some suspect sessions that may run now."""
    values = {"first": first_lane, "end": end_lane, "most": most}
    cursor.execute(SQL["solos"], values, prepare=False)
    return [(row[0], row[1]) for row in cursor.fetchall()]


def solo_turns(
    cursor: Cursor, sessions: Sequence[int], *, is_numbered: bool = False
) -> list[SoloTurn]:
    """These suspect sessions as they stand now, without those that are none or are shut."""
    name = "solo_heads_numbered" if is_numbered else "solo_heads"
    cursor.execute(SQL[name], {"sessions": list(sessions)})
    return [_solo_turn(*row) for row in cursor.fetchall()]


def count_deaths(cursor: Cursor, session: int, head: int, deaths: int) -> None:
    """So many starts of the suspect head ended with a death. Wants the lane."""
    cursor.execute(SQL["count_deaths"], {"session": session, "head": head, "deaths": deaths})


def end_solos(cursor: Cursor, sessions: Sequence[int], *, cleared: Sequence[int] = ()) -> None:
    """The suspect heads are gone, or ran (cleared): end the solo turns where no other is left."""
    if sessions:
        cursor.execute(SQL["end_solos"], {"sessions": list(sessions), "cleared": list(cleared)})


def waiting_head(cursor: Cursor, session: int) -> WaitingHead | None:
    """The head that the session waits for; None when it waits for no retry. Wants the lane."""
    cursor.execute(SQL["waiting_head"], {"session": session})
    row = cursor.fetchone()
    if row is None:
        return None
    return WaitingHead(id=row[0], number=row[1], attempts=row[2], error=row[3], is_last=row[4])


def _solo_turn(  # noqa: PLR0913, PLR0917 - the columns of one row, in their order
    session: int,
    lane: int,
    solo_until: int,
    attempts: int,
    head: int | None,
    waiting: int | None,
    deaths: int | None,
    *place: Any,
) -> SoloTurn:
    return SoloTurn(
        session=session,
        lane=lane,
        solo_until=solo_until,
        attempts=attempts if head == waiting else 0,
        head=waiting,
        deaths=deaths or 0,
        place=place,
    )
