"""Requeues of many: their frozen sets, and how far each is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from monitor.domain.scope import Scope, still_to_come
from monitor.store import requeues
from monitor.store.requeues import Dead
from monitor.store.sql import Cursor, load

SQL = load(__file__)

_NOTHING = dict.fromkeys(
    ("moved", "processed", "failed_again", "judged", "judged_failed", "gone", "refused"), 0
)


@dataclass(frozen=True, slots=True)
class Bulk:
    """One requeue of many, its row locked. allowed: how many its rate allows now; None: any.

    round: counts how often it was begun or went on; judged, judged_failed: of those put back in
    this round, how many have an outcome, and how many of these failed again.
    """

    id: int
    state: str
    actor: str
    per_second: float | None
    failure_limit: float
    total: int
    moved: int
    processed: int
    failed_again: int
    gone: int
    refused: int
    round: int
    judged: int
    judged_failed: int
    looked_to: int
    version: int
    allowed: float | None

    @property
    def left(self) -> int:
        """Messages whose turn is still to come."""
        return still_to_come(
            total=self.total, moved=self.moved, gone=self.gone, refused=self.refused
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A message whose turn it is. dead: None when it is not dead any more as it was seen."""

    id: int
    tries: int
    dead: Dead | None


def one_begins(cursor: Cursor) -> None:
    """Let no other requeue begin before this transaction has ended."""
    cursor.execute(SQL["one_begins"])


def running_of(cursor: Cursor, scope: Scope) -> int | None:
    """The requeue of the same scope that is not at its end. Locks nothing."""
    cursor.execute(SQL["of_scope"], asdict(scope))
    row = cursor.fetchone()
    return None if row is None else int(row[0])


def begin(
    cursor: Cursor, scope: Scope, values: Mapping[str, Any], *, up_to_version: int, limit: int
) -> tuple[int, int]:
    """Freeze the set, at most so many; (id, how many).

    values: state, actor, reason, per_second, failure_limit.
    """
    bounds = {**asdict(scope), "up_to_version": up_to_version}
    cursor.execute(SQL["begin"], {**bounds, **values})
    row = cursor.fetchone()
    assert row is not None  # noqa: S101 - INSERT … RETURNING
    cursor.execute(SQL["freeze"], {**bounds, "bulk": row[0], "limit": limit})
    total = cursor.rowcount
    cursor.execute(SQL["count_total"], {"bulk": row[0], "total": total})
    return row[0], total


def unfinished(cursor: Cursor) -> list[int]:
    """Those that still have something to do or to find out. Locks nothing."""
    cursor.execute(SQL["unfinished"])
    return [row[0] for row in cursor.fetchall()]


def lock(cursor: Cursor, bulk: int) -> Bulk | None:
    """The requeue, locked; None when another process is at it, or there is none."""
    cursor.execute(SQL["lock"], {"bulk": bulk})
    row = cursor.fetchone()
    return None if row is None else Bulk(*row)


def find(cursor: Cursor, bulk: int) -> Bulk | None:
    """The requeue, locked, after waiting for who is at it; None: there is none."""
    cursor.execute(SQL["find"], {"bulk": bulk})
    row = cursor.fetchone()
    return None if row is None else Bulk(*row)


def left(cursor: Cursor, bulk: int, limit: int) -> list[Item]:
    """Whose turn it is. Locks nothing."""
    cursor.execute(SQL["left"], {"bulk": bulk, "limit": limit})
    return [_item(row) for row in cursor.fetchall()]


def mark(
    cursor: Cursor, bulk: int, states: Mapping[int, tuple[str, str]], *, round_: int = 0
) -> None:
    """Keep what became of items: id → (state, note). round_: of those that are put back."""
    if not states:
        return
    cursor.execute(
        SQL["mark"],
        {
            "bulk": bulk,
            "round": round_,
            "ids": list(states),
            "states": [state for state, _ in states.values()],
            "notes": [note for _, note in states.values()],
        },
    )


def was_busy(cursor: Cursor, bulk: int, ids: Sequence[int]) -> None:
    """The lanes of these were not free: they come after the others."""
    cursor.execute(SQL["was_busy"], {"bulk": bulk, "ids": list(ids)})


def outcomes(
    cursor: Cursor,
    bulk: int,
    *,
    after: int,
    limit: int,
) -> list[tuple[int, int, str | None]]:
    """(message, round, state) of the next ones that were put back; state None: it is gone."""
    cursor.execute(SQL["outcomes"], {"bulk": bulk, "after": after, "limit": limit})
    return cursor.fetchall()


def add(cursor: Cursor, bulk: int, counts: Mapping[str, int], looked_to: int | None = None) -> None:
    """Count what happened, by the names of Bulk."""
    cursor.execute(SQL["add"], {**_NOTHING, **counts, "bulk": bulk, "looked_to": looked_to})


def turn(cursor: Cursor, bulk: int, state: str, why: str = "") -> None:
    """Give it a new state, and say why."""
    cursor.execute(SQL["turn"], {"bulk": bulk, "state": state, "why": why})


def begin_round(cursor: Cursor, bulk: int) -> None:
    """It goes on: what it put back before counts no more against its rate and limit."""
    cursor.execute(SQL["begin_round"], {"bulk": bulk})


def end(cursor: Cursor, bulk: int) -> None:
    """Close it if nothing can happen any more."""
    cursor.execute(SQL["end"], {"bulk": bulk})


def first_refusal(cursor: Cursor, bulk: int) -> str:
    """Why the first of those that were refused was; "" when none was."""
    cursor.execute(SQL["first_refusal"], {"bulk": bulk})
    row = cursor.fetchone()
    return "" if row is None else str(row[0])


def forget(cursor: Cursor, *, days: int, limit: int) -> int:
    """Drop what ended so many days ago, at most so many items; how many rows went."""
    cursor.execute(SQL["forget_items"], {"days": days, "limit": limit})
    items = cursor.rowcount
    cursor.execute(SQL["forget"], {"days": days})
    return items + cursor.rowcount


def _item(row: tuple[Any, ...]) -> Item:
    id_, tries, consumer, lane, session, reason, error, cause, seen = row
    if consumer is None:
        return Item(id=id_, tries=tries, dead=None)
    values = (id_, consumer, lane, session, reason, error, cause, seen)
    return Item(id=id_, tries=tries, dead=requeues.dead(values))
