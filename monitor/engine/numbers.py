"""Sessions that run by sequence number: what may run, what waits for a gap, what is stale.

admit() is pure; the rest writes what it found, under the lanes of the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg

from monitor.domain.errors import StaleError
from monitor.domain.order import Numbered
from monitor.domain.states import AlertKind, DeadReason
from monitor.engine import failure
from monitor.engine.choose import Candidate
from monitor.engine.target import Target
from monitor.store import alerts, queue, rollup, sequences
from monitor.store.sequences import Passed

Cursor = psycopg.Cursor[Any]


@dataclass(slots=True)
class Admission:
    """What was read, judged. admitted: of each session a stretch without holes from its next on."""

    admitted: list[Candidate] = field(default_factory=list)
    stale: list[Candidate] = field(default_factory=list)
    gaps: list[Candidate] = field(default_factory=list)  # the first behind each new gap


def admit(candidates: Sequence[Candidate], numbered: Numbered) -> Admission:
    """Judge candidates by their numbers; those of a session in the order of their numbers.

    A number below 0 was put back: it runs before all others, unjudged. Only what is stored decides
    what is stale; a second message with a number that may run now waits for the first one's end.
    A session that only waits behind a gap comes back as shut, so that reading passes it.
    """
    found = Admission()
    expected: dict[int, int] = {}
    has_some: set[int] = set()
    behind: dict[int, Candidate] = {}
    for each in candidates:
        start = numbered.starts_at if each.next is None else each.next
        wanted = expected.setdefault(each.session, start)
        if each.gated or each.number is None or each.number < 0:
            found.admitted.append(each)
            has_some.add(each.session)
        elif each.is_ended or each.number < start:
            found.stale.append(each)
        elif each.number == wanted and each.session not in behind:
            expected[each.session] = wanted + 1
            found.admitted.append(each)
            has_some.add(each.session)
        elif each.number > wanted:
            behind.setdefault(each.session, each)
    stuck = [each for session, each in behind.items() if session not in has_some]
    found.gaps = [each for each in stuck if each.gap_before != each.number]
    found.admitted += [replace(each, gated=True) for each in stuck]
    return found


def judge(
    cursor: Cursor, target: Target, candidates: Sequence[Candidate], slot: int
) -> tuple[list[Candidate], int]:
    """What may run, and how many were set aside as stale. Wants the lanes."""
    if target.consumer.numbered is None:
        return list(candidates), 0
    found = admit(candidates, target.consumer.numbered)
    for each in found.gaps:
        missing = target.consumer.numbered.starts_at if each.next is None else each.next
        before = each.number or 0
        sequences.note_gap(cursor, each.session, each.lane, missing=missing, before=before)
    if found.stale:
        _bury(cursor, target, found.stale, slot)
    return found.admitted, len(found.stale)


def passed(target: Target, pick: Candidate, body: queue.Body) -> list[Passed]:
    """What leaving the queue means for the session of this message; [] for one without numbers."""
    if target.consumer.numbered is None or pick.number is None or pick.number < 0:
        return []
    return [Passed(pick.session, pick.lane, pick.number, body.is_last)]


def advance(cursor: Cursor, target: Target, left: Sequence[Passed]) -> None:
    """These left the queue: their sessions expect the next number. Wants the lanes."""
    if left:
        for session in sequences.advance(cursor, left):
            alerts.resolve(cursor, AlertKind.GAP, target.id, str(session))


def _bury(cursor: Cursor, target: Target, stale: Sequence[Candidate], slot: int) -> None:
    settled = failure.Settled()
    bodies = queue.bodies(cursor, [each.id for each in stale], slot)
    for pick, body in zip(stale, bodies, strict=True):
        if pick.is_ended:
            text = f"Number {pick.number} came after the last message of its session."
        else:
            text = f"Number {pick.number} came late: its session already expects {pick.next}."
        case = failure.Failure(
            consumer=target.consumer,
            consumer_id=target.id,
            pick=pick,
            body=body,
            error=StaleError(text),
        )
        failure.die(cursor, case, DeadReason.STALE, settled)
    alerts.raise_many(cursor, settled.alerts)
    rollup.add(cursor, [(target.id, *each) for each in settled.counters])
