"""Suspects of a crash: sessions whose message stood in the batch of a process that died.

Each such message runs alone, its starts counted durably before it runs. A message that kills its
worker again and again goes to the dead letters; its neighbours in the batch are not charged.
"""

from __future__ import annotations

from django.db import transaction

from monitor.domain.errors import ComboioError
from monitor.domain.states import DeadReason
from monitor.engine import failure
from monitor.engine.choose import Candidate
from monitor.engine.life import Life
from monitor.engine.work import Target, finish, run_pairs
from monitor.store import alerts, gates, planning, queue

STARTS = 3  # the first was the batch in which its process died


class WorkerCrashError(ComboioError):
    """Each start of this message ended with the death of its worker process."""


def run_all(life: Life, target: Target) -> int:
    """Give every suspect session of the consumer that may run its turn; how many took one."""
    first = target.id * queue.LANES_PER_CONSUMER
    waiting = gates.solos(life.cursor(), first, first + queue.LANES_PER_CONSUMER)
    return sum(_turn(life, target, session, lane) for session, lane in waiting)


def _turn(life: Life, target: Target, session: int, lane: int) -> int:
    with transaction.atomic(durable=True):
        cursor = life.cursor()
        planning.by_index(cursor)
        if not queue.lock_lane(cursor, lane):
            return 0
        turn = gates.solo_turn(cursor, session)
        if turn is None:
            return 0
        if turn.head is None or turn.head > turn.solo_until:
            gates.end_solo(cursor, session)
            return 1
        starts = life.count_start(session, turn.head)
        life.announce([turn.head])
        pick = Candidate(lane, session, turn.head, False, turn.attempts, turn.head)
        (body,) = queue.bodies(cursor, [turn.head], life.slot)
        if starts > STARTS:
            _bury(life, target, pick, body)
        else:
            work = run_pairs(life, target, cursor, [(pick, body)], one_by_one=True)
            finish(cursor, target, work)
        gates.end_solo(cursor, session)
    return 1


def _bury(life: Life, target: Target, pick: Candidate, body: queue.Body) -> None:
    cursor = life.cursor()
    error = WorkerCrashError(f"{STARTS} starts of this message ended with the death of its worker.")
    case = failure.Failure(
        consumer=target.consumer, consumer_id=target.id, pick=pick, body=body, error=error
    )
    settled = failure.Settled()
    failure.die(cursor, case, DeadReason.CRASHED_WORKER, settled)
    alerts.raise_many(cursor, settled.alerts)
    queue.finish(cursor, target.id, body.xid, [], settled.counters)
