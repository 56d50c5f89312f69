"""Runs the handlers of chosen messages in the open transaction, and finishes what went through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import psycopg
from django.db import connection, transaction

from monitor.domain.errors import EndedTransactionError, HandlerError, MarkerError, Skip
from monitor.engine import (
    failure,
    handler,
    histogram,
    natural,
    numbers,
    telemetry,
    telling,
    throttle,
)
from monitor.engine.choose import Candidate
from monitor.engine.life import Life
from monitor.engine.target import Target
from monitor.store import alerts, planning, queue
from monitor.store.sequences import Passed

BATCH_SECONDS = 0.050


@dataclass(slots=True)
class Work:
    """What happened so far inside the open transaction, for finish() at its end."""

    finished: list[queue.Finished] = field(default_factory=list)
    served: list[Candidate] = field(default_factory=list)
    shut: set[int] = field(default_factory=set)  # sessions that go no further in this batch
    passed: list[Passed] = field(default_factory=list)
    settled: failure.Settled = field(default_factory=failure.Settled)
    skipped: int = 0
    failed: int = 0
    seconds: float = 0.0
    xid: int = 0


class RedoError(Exception):
    """A handler raised in the optimistic run: do the lanes again, one message at a time."""


def run_pairs(
    life: Life,
    target: Target,
    pairs: Sequence[tuple[Candidate, queue.Body]],
    *,
    one_by_one: bool,
    before: Callable[[int], None] | None = None,
    most_seconds: float = BATCH_SECONDS,
) -> Work:
    """Run the handlers in order until the time of a batch is over; what happened.

    before: told the id of each message right before its handler starts. most_seconds: after which
    no other begins.

    Wants the open transaction that holds the lanes of all pairs. In the optimistic run the first
    error ends it all; one by one, a failure shuts its session for the rest of the batch.
    """
    work = Work(xid=pairs[0][1].xid if pairs else 0)
    cursor = life.cursor()
    planning.as_usual(cursor)
    started = perf_counter()
    for pick, body in pairs:
        if _is_over(work, perf_counter() - started, most_seconds):
            break
        if pick.session in work.shut:
            continue
        if before is not None:
            before(pick.id)
        if one_by_one:
            if not _run_alone(life, target, cursor, (pick, body), work):
                work.shut.add(pick.session)
        else:
            _run_optimistic(life, target, (pick, body), work)
        if body.is_last and target.consumer.numbered is not None:
            work.shut.add(pick.session)  # what stands behind its end is stale
        work.served.append(pick)
    work.seconds = perf_counter() - started
    return work


def _is_over(work: Work, seconds: float, most_seconds: float) -> bool:
    has_had_its_time = bool(work.served) and seconds > most_seconds
    return has_had_its_time or work.settled.away >= throttle.FAILURES


def _run_optimistic(
    life: Life, target: Target, pair: tuple[Candidate, queue.Body], work: Work
) -> None:
    pick, _ = pair
    try:
        ran = _call(life, target, pair)
    except Exception as error:
        if failure.is_infrastructure(error):
            _strike(life, pick)
            raise
        raise RedoError from error
    _finished(life, target, pair, ran, work)


def _run_alone(
    life: Life,
    target: Target,
    cursor: psycopg.Cursor[Any],
    pair: tuple[Candidate, queue.Body],
    work: Work,
) -> bool:
    """Run one message behind a savepoint. False: it failed, its session is shut."""
    pick, body = pair
    try:
        with transaction.atomic():
            ran = _call(life, target, pair)
    except Skip as skip:
        _finished(life, target, pair, handler.Ran(None, 0.0), work)
        work.skipped += 1
        reason = telling.told(skip, target.consumer, body).text[:200]
        telemetry.message_event("skipped", target.consumer.name, body, reason=reason)
        return True
    except Exception as error:
        if isinstance(error, EndedTransactionError) or failure.is_infrastructure(error):
            _strike(life, pick)
            raise
        _failed(life, target, cursor, (pick, body, error), work)
        return False
    _finished(life, target, pair, ran, work)
    return True


def _strike(life: Life, pick: Candidate) -> None:
    """Suspect the message of ending its connection; a full disk or a lock is nobody's fault."""
    if failure.is_connection_lost():
        life.strike(pick.id)


def _call(life: Life, target: Target, pair: tuple[Candidate, queue.Body]) -> handler.Ran:
    """Run the handler, unless an earlier run broke its transaction: that could not be recorded."""
    pick, body = pair
    why = life.why_condemned(pick.id)
    if why is not None:
        raise HandlerError(why)
    if natural.is_older(life.cursor(), target.consumer, body):
        return natural.ABSORBED
    life.begins(pick.id, target.consumer)
    try:
        return handler.run(target.consumer, body, pick.failed_attempts + 1)
    except EndedTransactionError as error:
        life.condemn(pick.id, str(error))
        connection.close()  # What is left of the batch's transaction must not be committed.
        raise
    finally:
        life.rests()


def _finished(
    life: Life,
    target: Target,
    pair: tuple[Candidate, queue.Body],
    ran: handler.Ran,
    work: Work,
) -> None:
    pick, body = pair
    life.forgive(pick.id)
    work.passed += numbers.passed(target, pick, body)
    if ran is natural.ABSORBED:
        work.settled.counters.append(("processed", "absorbed", 1.0))
    work.finished.append(
        queue.Finished(
            lane=pick.lane,
            session=pick.session,
            id=pick.id,
            milliseconds=ran.milliseconds,
            attempts=pick.failed_attempts + 1,
            result=ran.result,
            type=body.type,
        )
    )


def _failed(
    life: Life,
    target: Target,
    cursor: psycopg.Cursor[Any],
    what: tuple[Candidate, queue.Body, Exception],
    work: Work,
) -> None:
    pick, body, error = what
    life.forgive(pick.id)
    case = failure.Failure(
        consumer=target.consumer, consumer_id=target.id, pick=pick, body=body, error=error
    )
    planning.by_index(cursor)
    failure.settle(cursor, case, life.random, work.settled)
    planning.as_usual(cursor)
    if pick.id in work.settled.dead:
        work.passed += numbers.passed(target, pick, body)
    work.failed += 1
    telemetry.message_event(
        "failed",
        target.consumer.name,
        body,
        attempt=pick.failed_attempts + 1,
        error_class=type(error).__qualname__,
    )


def finish(cursor: psycopg.Cursor[Any], target: Target, work: Work) -> None:
    """The last act inside the transaction: alerts, markers and counters.

    Raises MarkerError, and so rolls everything back, unless exactly the batch left the queue: a
    handler that ended the transaction, or lanes that were not ours, cannot finish anything.
    """
    _keep_hooks_apart()
    planning.by_index(cursor)
    due = {pick.session for pick in work.served if pick.gated is False} - work.shut
    if due:
        queue.clear_gates(cursor, sorted(due), [each.id for each in work.finished])
    numbers.advance(cursor, target, work.passed)
    throttle.learn(cursor, target, work.settled, has_success=bool(work.finished))
    alerts.raise_many(cursor, work.settled.alerts)
    counters = [*work.settled.counters, *histogram.counters(work.finished, work.skipped)]
    if not counters:
        return
    moved = queue.finish(cursor, target.id, work.xid, work.finished, counters)
    if moved != len(work.finished):
        raise MarkerError(
            f"{target.consumer.name}: {moved} of {len(work.finished)} messages left the queue. "
            "A handler ended the transaction, or the lanes were not held; all is rolled back.",
            tuple(each.id for each in work.finished),
        )


def _keep_hooks_apart() -> None:
    """One message's on_commit hook that raises must not eat those of the others of its batch."""
    own: Any = connection  # run_on_commit is an internal name of Django's; a test guards its shape
    own.run_on_commit = [(sids, hook, True) for sids, hook, _ in own.run_on_commit]
