"""Suspects of a crash: sessions whose message stood in the batch of a process that died.

Each such message runs with only its own name announced, so that the next death names its killer.
Deaths are counted where they are found, under the lane: a message that ended its worker again and
again goes to the dead letters, its neighbours are not charged, and what ends by an error of the
database is no death.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import psycopg
from django.db import transaction

from monitor.domain.errors import ComboioError, EndedTransactionError, MarkerError
from monitor.domain.states import DeadReason
from monitor.engine import deaths, failure, numbers
from monitor.engine.choose import Candidate
from monitor.engine.life import Life
from monitor.engine.target import Target
from monitor.engine.work import finish, run_pairs
from monitor.store import alerts, gates, lanes, permits, planning, queue, workers

# Their sessions stand still anyway, and a transaction around each few costs more than they do.
_TURN_SECONDS = 0.25
STARTS = 3  # that ended with the death of the worker; the first was the batch
Cursor = psycopg.Cursor[Any]


class WorkerCrashError(ComboioError):
    """Each start of this message ended with the death of its worker process."""


def run_all(life: Life, target: Target) -> int:
    """Give suspect sessions of the consumer that may run their turn; how many took one."""
    first = target.id * queue.LANES_PER_CONSUMER
    most = 1 if life.runs_single(target.consumer) else life.suspects_at_once
    waiting = gates.solos(life.cursor(), first, first + queue.LANES_PER_CONSUMER, most)
    if not waiting:
        return 0
    try:
        return _turns(life, target, waiting)
    except EndedTransactionError:
        return 1  # the message is condemned: its next turn says so
    except MarkerError as error:
        life.search_culprit(target.consumer, error.message_ids)
        return 1


def _turns(life: Life, target: Target, waiting: Sequence[tuple[int, int]]) -> int:
    life.rests()
    with transaction.atomic(durable=True):
        cursor = life.cursor()
        planning.by_index(cursor)
        if not permits.take(cursor, target.id, target.consumer.concurrency):
            return 0
        held = lanes.lock_free(cursor, [lane for _, lane in waiting])
        sessions = [session for session, lane in waiting if lane in held]
        heads, over = _heads(life, target, cursor, sessions)
        gates.end_solos(cursor, over)
        return len(over) + (_run(life, target, cursor, heads) if heads else 0)


def _heads(
    life: Life, target: Target, cursor: Cursor, sessions: Sequence[int]
) -> tuple[list[tuple[Candidate, int]], list[int]]:
    """The heads that may run, with their deaths so far; and the sessions that are over with."""
    is_numbered = target.consumer.numbered is not None
    turns = gates.solo_turns(cursor, sessions, is_numbered=is_numbered)
    picks: dict[int, tuple[Candidate, int]] = {}
    for turn in turns:
        # By number a suspect may stand behind a head that came later: then that one runs alone too.
        if turn.head is not None and (is_numbered or turn.head <= turn.solo_until):
            pick = Candidate(
                turn.lane, turn.session, turn.head, False, turn.attempts, turn.head, *turn.place
            )
            picks[turn.session] = (pick, max(turn.deaths, 1))
    seen = [replace(pick, gated=None) for pick, _ in picks.values()]
    admitted, _ = numbers.judge(cursor, target, seen, life.slot)
    judged = {each.session for each in admitted}  # without those whose head was stale
    over = [turn.session for turn in turns if turn.session not in judged]
    return [picks[each.session] for each in admitted if not each.gated], over


def _run(life: Life, target: Target, cursor: Cursor, heads: Sequence[tuple[Candidate, int]]) -> int:
    ids = [pick.id for pick, _ in heads]
    found = workers.take_deaths(cursor, deaths.ended(cursor, life.slot, ids), ids)
    bodies = {body.id: body for body in queue.bodies(cursor, ids, life.slot)}
    pairs = []
    for pick, before in heads:
        count = before + found.get(pick.id, 0)
        if count >= STARTS:
            _bury(target, cursor, pick, bodies[pick.id])
            gates.end_solos(cursor, [pick.session])
            continue
        if count > before:
            gates.count_deaths(cursor, pick.session, pick.id, count)
        pairs.append((pick, bodies[pick.id]))
    work = run_pairs(
        life,
        target,
        pairs,
        one_by_one=True,
        before=lambda id_: life.announce([id_]),
        most_seconds=_TURN_SECONDS,
    )
    finish(cursor, target, work)
    # Who failed has shown that it ends no worker: its next attempts may stand in a batch again.
    served = [pick.session for pick in work.served]
    gates.end_solos(cursor, served, cleared=[pick.id for pick in work.served])
    if work.failed or len(work.served) > 1:
        # What failed stays in the queue, and must not look like a death there; and of several that
        # went through nobody could say which one a death in the commit would be of.
        life.withdraw()
    return len(work.served) + len(heads) - len(pairs)


def _bury(target: Target, cursor: Cursor, pick: Candidate, body: queue.Body) -> None:
    error = WorkerCrashError(f"{STARTS} starts of this message ended with the death of its worker.")
    case = failure.Failure(
        consumer=target.consumer, consumer_id=target.id, pick=pick, body=body, error=error
    )
    settled = failure.Settled()
    failure.die(cursor, case, DeadReason.CRASHED_WORKER, settled)
    numbers.advance(cursor, target, numbers.passed(target, pick, body))
    alerts.raise_many(cursor, settled.alerts)
    queue.finish(cursor, target.id, body.xid, [], settled.counters)
