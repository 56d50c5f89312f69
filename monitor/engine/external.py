"""Runs messages of external consumers: one at a time, under a lease with a fence, effects first.

The handler runs outside any transaction; what it writes to the database goes into one transaction
at its end, whose last act ends the lease: exactly one row, or everything rolls back and nothing
may catch it. A holder that was killed or frozen loses the session after lease_seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection, transaction

from monitor.domain.effect import EffectInDoubtError, EffectRefused
from monitor.domain.errors import DeadLetter, HandlerError, LeaseLostError, Skip
from monitor.domain.states import DeadReason
from monitor.engine import doubt, failure, handler, telemetry
from monitor.engine.choose import Candidate
from monitor.engine.hands import ExternalMessage, Hands
from monitor.engine.life import Life
from monitor.engine.solo import WorkerCrashError
from monitor.engine.work import Target
from monitor.store import alerts, lanes, leases, planning, queue, rollup
from monitor.store.sql import Cursor

STARTS = 5  # without an end, before the message is blamed for the deaths of its workers
_LANES_PER_CLAIM = 16
_HEADS_READ = 50
_BEGINNING = -(2**63)


def run_some(life: Life, target: Target, is_over: Callable[[], bool]) -> int:
    """Run messages of an external consumer until none may be taken or it is over; how many."""
    first, wrapped, ran = life.first_lane(target.id), False, 0
    while not is_over():
        lanes_seen, hands = _take(life, target)
        if hands is not None:
            _run(hands)
            ran += 1
            continue
        end = lanes_seen[-1] if lanes_seen else None
        life.go_on_after(target.id, end)
        if end is None or life.first_lane(target.id) <= end:
            if wrapped:
                break
            wrapped = True
            life.go_on_after(target.id, None)
        elif wrapped and end >= first:
            break
    return ran


def _take(life: Life, target: Target) -> tuple[Sequence[int], Hands | None]:
    """Lease the first session that may run; the lanes looked at."""
    with transaction.atomic(durable=True):
        cursor = life.cursor()
        planning.by_index(cursor)
        end = (target.id + 1) * queue.LANES_PER_CONSUMER
        locked = queue.claim(cursor, life.first_lane(target.id), end, _LANES_PER_CLAIM)
        if not locked:
            return locked, None
        heads = _heads(life, cursor, locked)
        shut = leases.shut(cursor, [head.session for head in heads])
        for head in heads:
            if head.session not in shut:
                return locked, _lease(life, target, cursor, head)
    return locked, None


def _heads(life: Life, cursor: Any, locked: Sequence[int]) -> list[Candidate]:
    """The first message of each session that no gate shuts, from the cursors of the lanes on."""
    after = life.after(locked)
    keys = queue.read_open(cursor, locked, after, _HEADS_READ)
    seen = [Candidate(*key) for key in keys]
    life.move_cursors(dict.fromkeys(locked, _BEGINNING) | {c.lane: c.session for c in seen})
    if any(start != _BEGINNING for start in after):
        again = queue.read_open(cursor, locked, [_BEGINNING] * len(locked), _HEADS_READ)
        known = {each.session for each in seen}
        seen += [c for c in (Candidate(*key) for key in again) if c.session not in known]
    return [head for head in seen if not head.gated]


def _lease(life: Life, target: Target, cursor: Any, head: Candidate) -> Hands | None:
    lease = leases.take(
        cursor,
        head.session,
        head.lane,
        consumer=target.id,
        message=head.id,
        holder=(life.slot, target.consumer.lease_seconds),
    )
    if lease is None:
        return None
    if not queue.is_ready(cursor, head.lane, head.session, head.id):
        leases.end(cursor, lease)
        return None
    label = "taken" if lease.starts == 1 else "taken over"
    rollup.add(cursor, [(target.id, "leases", label, 1.0)])
    (body,) = queue.bodies(cursor, [head.id], life.slot)
    return Hands(life=life, target=target, lease=lease, pick=head, body=body)


def _run(hands: Hands) -> None:
    """Run the handler; whatever comes out is settled under the lease, or refused if it is lost."""
    try:
        if hands.lease.starts > STARTS:
            raise WorkerCrashError(f"{STARTS} starts of this message ended without an outcome.")
        _call(hands)
    except LeaseLostError as error:
        _refused(hands, error)
    except Exception as error:
        if failure.is_infrastructure(error):
            raise
        try:
            with transaction.atomic(durable=True):
                _settle(hands, error)
        except LeaseLostError as lost:
            _refused(hands, lost)


def _call(hands: Hands) -> None:
    consumer = hands.target.consumer
    value = handler.payload_of(consumer, hands.body)
    attempt = hands.pick.failed_attempts + 1
    message = handler.message_of(ExternalMessage, consumer, hands.body, attempt, hands=hands)
    hands.life.begins(hands.pick.id, consumer, fence=hands.lease.fence)
    try:
        arguments = (value, message) if consumer.wants_message else (value,)
        result = consumer.handler(*arguments)
    except Skip as skip:
        result = {"skipped": str(skip)[:200]}
    finally:
        hands.life.rests()
    if connection.in_atomic_block:
        raise HandlerError(f"{consumer.name} left a transaction open.")
    if not hands.is_finished:
        with hands.transaction() as commit:
            commit.result = result


def _settle(hands: Hands, error: Exception) -> None:
    """A retry, the dead letters, or in doubt. Wants its transaction; ends the lease as last act."""
    cursor = hands.life.cursor()
    planning.by_index(cursor)
    lanes.lock(cursor, [hands.pick.lane])
    settled = failure.Settled()
    if not _put_in_doubt(hands, cursor, error, settled):
        if isinstance(error, EffectRefused):
            error = DeadLetter(f"The provider refused: {error}")
        case = failure.Failure(
            consumer=hands.target.consumer,
            consumer_id=hands.target.id,
            pick=hands.pick,
            body=hands.body,
            error=error,
        )
        if isinstance(error, WorkerCrashError):
            failure.die(cursor, case, DeadReason.CRASHED_WORKER, settled)
        else:
            failure.settle(cursor, case, hands.life.random, settled)
    alerts.raise_many(cursor, settled.alerts)
    rollup.add(cursor, [(hands.target.id, *each) for each in settled.counters])
    if not leases.end(cursor, hands.lease):
        raise LeaseLostError(f"Message {hands.pick.id}: the lease was lost before it was settled.")
    telemetry.message_event(
        "failed",
        hands.target.consumer.name,
        hands.body,
        attempt=hands.pick.failed_attempts + 1,
        error_class=type(error).__qualname__,
    )


def _put_in_doubt(hands: Hands, cursor: Cursor, error: Exception, settled: failure.Settled) -> bool:
    """In doubt when the error says so, or when the message would die with an unknown outcome."""
    effect_id = int(str(error)) if isinstance(error, EffectInDoubtError) else None
    if effect_id is None:
        attempts = hands.pick.failed_attempts + 1
        is_last = attempts >= hands.target.consumer.retry.limit
        if not (is_last or isinstance(error, WorkerCrashError)):
            return False
        effect_id = doubt.unknown_effect(cursor, hands.pick.id)
    if effect_id is None:
        return False
    doubt.set_aside(cursor, hands.target, hands.pick, effect_id, settled)
    return True


def _refused(hands: Hands, error: LeaseLostError) -> None:
    """A stale holder did nothing; that it tried is counted."""
    with transaction.atomic(durable=True):
        cursor = hands.life.cursor()
        rollup.add(
            cursor,
            [(hands.target.id, "stale_commits", "", 1.0), (hands.target.id, "leases", "lost", 1.0)],
        )
    telemetry.message_event(
        "lease lost", hands.target.consumer.name, hands.body, text=str(error)[:200]
    )
