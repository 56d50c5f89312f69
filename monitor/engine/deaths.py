"""Who died: process lives that ended while messages stood as announced, and what they left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import sleep

from django.db import transaction

from monitor.engine.life import Life
from monitor.store import gates, lanes, planning, queue, workers
from monitor.store.sql import Cursor

# A killed process leaves several connections, which the server finds closed one after the other.
_LOOKS = 10
_BETWEEN_LOOKS_SECONDS = 0.01
_NOBODY = 0  # no message has this id


def ended(cursor: Cursor, slot: int, ids: Sequence[int]) -> dict[int, list[int]]:
    """What was announced, by slot, of ended lives that announced one of these messages.

    Wants the lanes of the messages, so whoever lives has left them: it is about to withdraw what it
    announced, and gets a moment to do so. slot is the caller's own life.
    """
    for look in range(_LOOKS):
        if look:
            sleep(_BETWEEN_LOOKS_SECONDS)
        seen = workers.announcers(cursor, slot, ids)
        if not any(has_ended is False for _, _, has_ended in seen):
            break
    return {each: announced for each, announced, has_ended in seen if has_ended}


def gather(life: Life) -> None:
    """Make suspects of what ended lives left in the queue, however long the queue is.

    Wants no transaction; opens one of its own when somebody has died. What cannot be locked now is
    left for the next look, or for the batch that meets it.
    """
    seen = workers.announcers(life.cursor(), life.slot)
    slots = [slot for slot, _, has_ended in seen if has_ended]
    if not slots:
        return
    life.rests()
    with transaction.atomic(durable=True):
        cursor = life.cursor()
        planning.by_index(cursor)
        claimed = workers.claim_ended(cursor, slots)
        left = {slot: queue.places(cursor, ids) for slot, ids in claimed.items()}
        held = lanes.lock_free(cursor, [lane for found in left.values() for lane, _, _ in found])
        # Read again: until its lane was locked, another may have run a message.
        left = {slot: queue.places(cursor, ids) for slot, ids in claimed.items()}
        _take_in(cursor, claimed, left, held)


def _take_in(
    cursor: Cursor,
    claimed: Mapping[int, Sequence[int]],
    left: Mapping[int, Sequence[tuple[int, int, int]]],
    held: set[int],
) -> None:
    sessions = {session for found in left.values() for _, session, _ in found}
    solo = gates.are_solo(cursor, sessions)
    suspects: dict[int, tuple[int, int]] = {}
    for slot, found in left.items():
        is_batch = len(claimed[slot]) > 1
        if not is_batch and any(session in solo for _, session, _ in found):
            continue  # The death of a suspect that ran alone: its next turn counts it.
        for lane, session, id_ in found:
            if lane in held:
                _, until = suspects.get(session, (lane, id_))
                suspects[session] = (lane, max(until, id_))
        rest = [id_ for lane, _, id_ in found if lane not in held]
        # A batch must not shrink to what looks like a suspect that ran alone.
        workers.settle_ended(cursor, slot, [_NOBODY, *rest] if rest and is_batch else rest)
    gates.suspect(cursor, suspects)
