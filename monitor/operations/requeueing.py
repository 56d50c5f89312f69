"""How dead messages leave the dead letters: their sessions go on, their alerts close."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from monitor.domain.actor import Actor
from monitor.operations.transaction import record_many
from monitor.store import alerts, events, holds, lanes, requeues
from monitor.store.requeues import Dead, Requeued

Cursor = psycopg.Cursor[Any]


def put_back(
    cursor: Cursor, actor: Actor, seen: Sequence[Dead], *, note: str = ""
) -> list[Requeued]:
    """Make those ready that are still dead as seen, with all that belongs to it; which they are.

    note: what the person says about it. The caller holds their lanes.
    """
    moved = requeues.requeue(cursor, seen)
    if not moved:
        return []
    ids = [each.id for each in moved]
    leave(cursor, [each for each in seen if each.id in set(ids)])
    details = {
        each.id: {"reason": each.reason}
        | ({"late": True} if each.is_late else {})
        | ({"note": note} if note else {})
        for each in moved
    }
    events.write_many(cursor, "requeue", details, actor=actor.name)
    record_many(cursor, actor, "requeue", ids, reason=note)
    lanes.wake(cursor)
    return moved


def leave(cursor: Cursor, left: Sequence[Dead]) -> bool:
    """Messages are dead no more: open what they held, close the alerts whose cause is gone.

    Returns whether a session was opened. The caller holds the lanes and wakes the workers.
    """
    released = holds.release(cursor, [each.session for each in left], [each.id for each in left])
    opened = [each.session for each in released if each.held_it and each.is_open]
    alerts.resolve_dead_letters(cursor, [(each.consumer, each.cause) for each in left])
    alerts.resolve_sessions(cursor, opened)
    return bool(opened)
