"""Carries requeues of many on: outcomes, then the next part, in short transactions.

Nothing depends on who asked for one: any process may carry it on, one at a time.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import Any

import psycopg
from django.utils.translation import gettext as _

from monitor.domain.actor import Actor, Permission
from monitor.domain.consumer import NO_CONSUMER
from monitor.operations.requeueing import put_back
from monitor.operations.routing import route
from monitor.operations.transaction import BusyError, act
from monitor.store import bulks, lanes, sql
from monitor.store.bulks import Bulk, Item

CHUNK = 500  # messages a transaction may touch: some 30 ms in which their lanes stand still
ROUTED_CHUNK = 50  # routed ones are read with their bodies, up to 1 MiB each
OUTCOMES = 5_000  # looked at in one transaction
LOCK_SECONDS = 1.0
FEWEST_OUTCOMES = 10  # before a share of failures says anything
TURN_SECONDS = 0.5  # of the clock, for each requeue
KEPT_DAYS = 30
FORGOTTEN_AT_ONCE = 10_000

_PATIENT_AFTER = 3  # times that a lane was busy: then its batch is waited for
_ENDED = {"done": "processed", "dead": "failed again", None: "gone", "discarded": "gone"}
# Who goes on with it; the permission was asked for at the click.
_CLOCK = Actor(name="", permissions=frozenset({Permission.OPERATE}))

Cursor = psycopg.Cursor[Any]


def carry_on(bulk: int, seconds: float) -> int:
    """Go on with a requeue for so long at most; how many messages were put back.

    Wants no open transaction; takes short ones. Several processes may try: one is at it.
    """
    deadline, total = time.monotonic() + seconds, 0
    while True:
        moved = _step(bulk)
        total += moved or 0
        if moved is None or time.monotonic() > deadline:
            return total


def carry_on_all() -> int:
    """Go on with every requeue that is not at its end, each for a moment; how many were put back.

    For the clock. Wants no open transaction.
    """
    with act(_CLOCK, Permission.OPERATE) as cursor:
        unfinished = bulks.unfinished(cursor)
    return sum(carry_on(bulk, TURN_SECONDS) for bulk in unfinished)


def forget(cursor: sql.Cursor) -> int:
    """Drop what ended 30 days ago, some rows at a time; how many. Wants its transaction."""
    return bulks.forget(cursor, days=KEPT_DAYS, limit=FORGOTTEN_AT_ONCE)


def _step(bulk: int) -> int | None:
    """One transaction: outcomes, then the next part. None: nothing can be done now."""
    try:
        with act(_CLOCK, Permission.OPERATE, lock_seconds=LOCK_SECONDS) as cursor:
            found = bulks.lock(cursor, bulk)
            if found is None:
                return None
            known = _look(cursor, found)
            state = _judge(cursor, known) if known != found else found.state
            moved = _move(cursor, known, state)
            bulks.end(cursor, bulk)
            return 0 if moved is None and known != found else moved
    except BusyError:
        return None


def _look(cursor: Cursor, bulk: Bulk) -> Bulk:
    """Learn what became of those that were put back; how it stands with what is new."""
    seen = bulks.outcomes(cursor, bulk.id, after=bulk.looked_to, limit=OUTCOMES)
    ended = [(id_, round_, _ENDED[state]) for id_, round_, state in seen if state in _ENDED]
    looked_to = seen[-1][0] if len(seen) == OUTCOMES else 0
    if not ended and looked_to == bulk.looked_to:
        return bulk
    bulks.mark(cursor, bulk.id, {id_: (outcome, "") for id_, _round, outcome in ended})
    all_, now = _count(ended), _count([each for each in ended if each[1] == bulk.round])
    counts = {
        "processed": all_["processed"],
        "failed_again": all_["failed again"],
        # What was put back and is not there any more counts as gone, no longer as moved.
        "gone": all_["gone"],
        "moved": -all_["gone"],
        "judged": now["processed"] + now["failed again"],
        "judged_failed": now["failed again"],
    }
    bulks.add(cursor, bulk.id, counts, looked_to)
    known = {name: getattr(bulk, name) + count for name, count in counts.items()}
    return replace(bulk, **known, looked_to=looked_to)


def _count(ended: list[tuple[int, int, str]]) -> Counter[str]:
    return Counter(outcome for _id, _round, outcome in ended)


def _judge(cursor: Cursor, bulk: Bulk) -> str:
    """Its state now: stopped when too many fail again, waiting for a person after the canary."""
    failed, judged = bulk.judged_failed, bulk.judged
    state, why = bulk.state, ""
    if bulk.state == "canary" and failed:
        state, why = "stopped", _("the first one failed again")
    elif bulk.state == "canary" and judged:
        state, why = "waiting", _("the first one was processed")
    elif bulk.state == "running" and _is_too_much(failed, judged, bulk.failure_limit):
        facts = {"failed": failed, "judged": judged, "limit": round(bulk.failure_limit * 100)}
        why = _("%(failed)d of %(judged)d failed again, more than %(limit)d %%") % facts
        state = "stopped"
    if state != bulk.state:
        bulks.turn(cursor, bulk.id, state, why)
    return state


def _is_too_much(failed: int, judged: int, limit: float) -> bool:
    return judged >= FEWEST_OUTCOMES and failed > judged * limit


def _move(cursor: Cursor, bulk: Bulk, state: str) -> int | None:
    """Put the next part back. None: it is not its time, or nothing is left."""
    if state == "canary":
        most = 1 if not bulk.moved else 0
    elif state == "running":
        most = CHUNK if bulk.allowed is None else int(min(bulk.allowed, CHUNK))
    else:
        most = 0
    if most < 1:
        return None
    items = bulks.left(cursor, bulk.id, most)
    if items:
        return _put(cursor, replace(_CLOCK, name=bulk.actor), bulk, items)
    bulks.turn(cursor, bulk.id, "done")
    return None


def _put(cursor: Cursor, actor: Actor, bulk: Bulk, items: list[Item]) -> int:
    dead = {each.id: each.dead for each in items if each.dead is not None}
    unrouted = [each for each in dead.values() if each.consumer == NO_CONSUMER][:ROUTED_CHUNK]
    queued = [each for each in dead.values() if each.consumer != NO_CONSUMER]
    is_patient = all(each.tries >= _PATIENT_AFTER for each in items)
    lock = lanes.lock if is_patient else lanes.lock_free
    held = lock(cursor, [each.lane for each in (*queued, *unrouted)])
    free = [each for each in queued if each.lane in held]
    moved = {each.id for each in put_back(cursor, actor, free)} if free else set()
    states = {each.id: ("gone", "") for each in items if each.dead is None}
    states |= {each.id: ("moved", "") if each.id in moved else ("gone", "") for each in free}
    routable = [each for each in unrouted if each.lane in held]
    routed = route(cursor, actor, routable) if routable else None
    if routed is not None:
        states |= {each.id: ("gone", "") for each in routable}
        states |= {id_: ("processed", note) for id_, note in routed.notes.items()}
        states |= {id_: ("refused", why) for id_, why in routed.refusals.items()}
    bulks.mark(cursor, bulk.id, states, round_=bulk.round)
    busy = [id_ for id_, each in dead.items() if each.lane not in held and id_ not in states]
    if busy:
        bulks.was_busy(cursor, bulk.id, busy)
    names = [state for state, _note in states.values()]
    counts = {name: names.count(name) for name in ("processed", "gone", "refused")}
    counts["moved"] = names.count("moved") + counts["processed"]
    counts["judged"] = counts["processed"]
    bulks.add(cursor, bulk.id, counts)
    return counts["moved"]
