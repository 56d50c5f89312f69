"""Where messages are now: the one place that reads a state from the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.domain.states import State
from monitor.reports.reading import Cursor
from monitor.store import sql

SQL = sql.load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """State of one message. parked: it waits behind a held session or consumer.

    state None: the message is known but its state was purged. due_at: a waiting one that its sender
    delayed until then, None for one that waits for its retry. reason: why a dead one is dead.
    """

    state: State | None
    parked: bool = False
    due_at: datetime | None = None
    reason: str = ""


def of(cursor: Cursor, ids: Sequence[int]) -> dict[int, Standing]:
    """The standing of each of these messages; one index probe per table and message."""
    if not ids:
        return {}
    cursor.execute(SQL["of"], {"ids": list(ids)})
    return {
        number: Standing(
            state=None if state is None else State(state),
            parked=parked,
            due_at=due_at,
            reason=reason or "",
        )
        for number, state, parked, due_at, reason in cursor.fetchall()
    }
