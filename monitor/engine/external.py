"""Runs messages of external consumers: one at a time, under a lease with a fence, effects first.

The handler runs outside any transaction; what it writes to the database goes into one transaction
at its end, whose last act ends the lease: exactly one row, or everything rolls back and nothing
may catch it. A holder that was killed or frozen loses the session after lease_seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from django.db import connection, transaction

from monitor.domain.effect import EffectInDoubtError, EffectRefused
from monitor.domain.errors import DeadLetter, HandlerError, LeaseLostError, Skip
from monitor.domain.states import DeadReason
from monitor.engine import doubt, failure, handler, numbers, telemetry, telling, throttle
from monitor.engine import span as spans
from monitor.engine.choose import Candidate
from monitor.engine.hands import ExternalMessage, Hands
from monitor.engine.life import Life
from monitor.engine.solo import WorkerCrashError
from monitor.engine.target import Target
from monitor.store import alerts, lanes, leases, permits, planning, queue, rollup
from monitor.store.sql import Cursor

STARTS = 5  # without an end, before the message is blamed for the deaths of its workers
_SECONDS_AFTER_CUTS = (0.25, 1.0, 4.0, 16.0)  # by starts: a handler that breaks its own connection
_TURN_SECONDS = 0.25  # after which it is the other consumers' turn
_LANES_PER_CLAIM = 16
_HEADS_READ = 50
_BEGINNING = -(2**63)


def run_some(life: Life, target: Target, is_over: Callable[[], bool]) -> int:
    """Run messages of an external consumer until none may run or its turn is over; how many."""
    ran, end = 0, monotonic() + _TURN_SECONDS
    while not is_over() and not (ran and monotonic() > end):
        hands = _next(life, target, is_over)
        if hands is None:
            break
        _run(hands)
        ran += 1
        if target.is_probe or life.is_away(target.id):
            break
    return ran


def take_over(life: Life, target: Target) -> int:
    """Run one message of a session whose lease ran out; how many ran."""
    for session, lane in leases.expired(life.cursor(), target.id):
        hands = _take_over(life, target, session, lane)
        if hands is not None:
            _run(hands)
            return 1
    return 0


def give_back(life: Life) -> None:
    """End the lease that this process kept when its connection broke; wants no transaction.

    Whether the lease was granted at all, or had been ended, was unknown then.
    """
    left = life.leased
    if left is None:
        return
    pause = _SECONDS_AFTER_CUTS[min(max(left.starts, 1), len(_SECONDS_AFTER_CUTS)) - 1]
    seconds = pause if life.has_begun_leased else 0.0
    with transaction.atomic(durable=True):
        leases.give_back(life.cursor(), left, seconds, has_begun=life.has_begun_leased)
    life.holds(None)


def _next(life: Life, target: Target, is_over: Callable[[], bool]) -> Hands | None:
    """Lease what may run: the most important sessions first."""
    for span in spans.in_turn(target, life.look(target.id)):
        hands = _visit(life, target, span, is_over)
        if hands is not None:
            return hands
    return None


def _visit(
    life: Life, target: Target, span: spans.Span, is_over: Callable[[], bool]
) -> Hands | None:
    first, wrapped = life.first_lane(span), False
    while not is_over():
        lanes_seen, hands = _take(life, target, span)
        if hands is not None:
            return hands
        end = lanes_seen[-1] if lanes_seen else None
        life.go_on_after(span, end)
        if end is None or life.first_lane(span) <= end:
            if wrapped:
                break
            wrapped = True
            life.go_on_after(span, None)
        elif wrapped and end >= first:
            break
    return None


def _take(life: Life, target: Target, span: spans.Span) -> tuple[Sequence[int], Hands | None]:
    """Lease the first session that may run; the lanes looked at."""
    life.rests()
    with transaction.atomic(durable=True):
        cursor = life.cursor()
        planning.by_index(cursor)
        if not permits.has_free_lease(cursor, target.id, target.consumer.concurrency):
            return (), None
        locked = queue.claim(cursor, life.first_lane(span), span.end, _LANES_PER_CLAIM)
        if not locked:
            return locked, None
        heads = _heads(life, cursor, target, locked)
        shut = leases.shut(cursor, [head.session for head in heads])
        for head in heads:
            if head.session not in shut:
                return locked, _lease(life, target, cursor, head)
    return locked, None


def _take_over(life: Life, target: Target, session: int, lane: int) -> Hands | None:
    """Lease a session whose lease ran out, if its head may run now."""
    life.rests()
    is_numbered = target.consumer.numbered is not None
    with transaction.atomic(durable=True):
        cursor = life.cursor()
        planning.by_index(cursor)
        if not permits.has_free_lease(cursor, target.id, target.consumer.concurrency):
            return None
        if not queue.lock_lane(cursor, lane):
            return None
        keys = queue.read_open(cursor, [lane], [session - 1], 1, is_numbered=is_numbered)
        seen = [head for head in (Candidate(*key) for key in keys) if head.session == session]
        if not seen:
            leases.forget(cursor, session)
            return None
        heads, _ = numbers.judge(cursor, target, seen, life.slot)
        if not heads or heads[0].gated or leases.shut(cursor, [session]):
            return None
        return _lease(life, target, cursor, heads[0])


def _heads(life: Life, cursor: Any, target: Target, locked: Sequence[int]) -> list[Candidate]:
    """The first message of each session that nothing shuts, from the cursors of the lanes on."""
    after, is_numbered = life.after(locked), target.consumer.numbered is not None
    keys = queue.read_open(cursor, locked, after, _HEADS_READ, is_numbered=is_numbered)
    seen = [Candidate(*key) for key in keys]
    life.move_cursors(dict.fromkeys(locked, _BEGINNING) | {c.lane: c.session for c in seen})
    if any(start != _BEGINNING for start in after):
        start = [_BEGINNING] * len(locked)
        again = queue.read_open(cursor, locked, start, _HEADS_READ, is_numbered=is_numbered)
        known = {each.session for each in seen}
        seen += [c for c in (Candidate(*key) for key in again) if c.session not in known]
    heads, _ = numbers.judge(cursor, target, seen, life.slot)
    return [head for head in heads if not head.gated]


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
    life.holds(lease)
    label = "taken" if lease.starts == 1 else "taken over"
    rollup.add(cursor, [(target.id, "leases", label, 1.0)])
    (body,) = queue.bodies(cursor, [head.id], life.slot)
    return Hands(life=life, target=target, lease=lease, pick=head, body=body)


def _run(hands: Hands) -> None:
    """Run the handler; whatever comes out is settled under the lease, or refused if it is lost."""
    used = connection.connection
    try:
        if hands.lease.starts > STARTS:
            raise WorkerCrashError(f"{STARTS} starts of this message ended without an outcome.")
        _call(hands)
    except LeaseLostError as error:
        _refused(hands, error)
    except Exception as error:
        if failure.is_infrastructure(error, used):
            raise
        try:
            with transaction.atomic(durable=True):
                _settle(hands, error)
        except LeaseLostError as lost:
            _refused(hands, lost)
    hands.life.holds(None)


def _call(hands: Hands) -> None:
    consumer = hands.target.consumer
    value = handler.payload_of(consumer, hands.body)
    handler.check_session(consumer, value, hands.body)
    attempt = hands.pick.failed_attempts + 1
    message = handler.message_of(ExternalMessage, consumer, hands.body, attempt, hands=hands)
    hands.life.begins(hands.pick.id, consumer, fence=hands.lease.fence)
    try:
        arguments = (value, message) if consumer.wants_message else (value,)
        result = consumer.handler(*arguments)
    except Skip as skip:
        result = {"skipped": telling.told(skip, consumer, hands.body).text[:200]}
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
    if not leases.holds(cursor, hands.lease):
        raise LeaseLostError(f"Message {hands.pick.id}: the lease was lost; another settles it.")
    settled = failure.Settled()
    effect_id = _unknown(hands, cursor, error)
    if effect_id is None:
        _fail(hands, cursor, error, settled)
    elif not doubt.set_aside(cursor, hands.target, hands.pick, effect_id, settled):
        hands.reschedule(cursor, 0.0, "the outcome of its effect came meanwhile")
    left = numbers.passed(hands.target, hands.pick, hands.body)
    if left and not queue.is_ready(cursor, hands.pick.lane, hands.pick.session, hands.pick.id):
        numbers.advance(cursor, hands.target, left)
    throttle.learn(cursor, hands.target, settled, has_success=False)
    if settled.away:
        hands.life.finds_away(hands.target.id)
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


def _fail(hands: Hands, cursor: Cursor, error: Exception, settled: failure.Settled) -> None:
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


def _unknown(hands: Hands, cursor: Cursor, error: Exception) -> int | None:
    """The effect in doubt: the error says so, or the message would die with an unknown outcome."""
    if isinstance(error, EffectInDoubtError):
        return int(str(error))
    is_last = hands.pick.failed_attempts + 1 >= hands.target.consumer.retry.limit
    if is_last or isinstance(error, WorkerCrashError):
        return doubt.unknown_effect(cursor, hands.pick.id)
    return None


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
