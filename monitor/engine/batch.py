"""One batch of one consumer: claim, read, choose, run, finish, in ONE transaction.

First optimistically, without savepoints; when a handler raises, everything is rolled back and the
same lanes are done again with a savepoint for each message: only the failing one is affected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import psycopg
from django.db import connection, transaction

from monitor.domain.consumer import Consumer
from monitor.domain.errors import EndedTransactionError, HandlerError, MarkerError, Skip
from monitor.engine import failure, handler, histogram, telemetry
from monitor.engine.choose import Candidate, choose, cursors
from monitor.engine.life import Life
from monitor.store import alerts, gates, queue

BATCH_MESSAGES = 200
BATCH_SECONDS = 0.050
_LANES_PER_CLAIM = 16
_SESSIONS_PROBED = 50


@dataclass(frozen=True, slots=True)
class Target:
    """A consumer of this process and its id in the database."""

    consumer: Consumer
    id: int


@dataclass(slots=True)
class Visit:
    """What one visit did. end_lane None: the claim reached the end of the consumer's lanes."""

    done: int = 0
    failed: int = 0
    aside: int = 0
    end_lane: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was done, not even set aside."""
        return not (self.done or self.failed or self.aside)


@dataclass(slots=True)
class _Work:
    """What happened so far inside the open transaction."""

    finished: list[queue.Finished] = field(default_factory=list)
    served: list[Candidate] = field(default_factory=list)
    shut: set[int] = field(default_factory=set)  # sessions with a failure in this batch
    settled: failure.Settled = field(default_factory=failure.Settled)
    skipped: int = 0
    failed: int = 0
    seconds: float = 0.0
    xid: int = 0


class _RedoError(Exception):
    """A handler raised in the optimistic run: do the lanes again, one message at a time."""


def run(life: Life, target: Target) -> Visit:
    """Claim lanes of the consumer and run their messages; what that did.

    Opens and commits its own transaction on Django's connection. Infrastructure errors come out:
    nothing was done then, and no attempt is counted.
    """
    try:
        return _run_once(life, target, one_by_one=life.is_failing(target.consumer))
    except (_RedoError, EndedTransactionError):
        return _run_once(life, target, one_by_one=True)
    except MarkerError as error:
        life.search_culprit(target.consumer, error.message_ids)
        telemetry.engine_event("batch not finished", consumer=target.consumer.name, text=str(error))
        return _run_once(life, target, one_by_one=True)


def _run_once(life: Life, target: Target, *, one_by_one: bool) -> Visit:
    visit, work = Visit(), _Work()
    with transaction.atomic(durable=True):
        cursor = life.cursor()
        single = life.runs_single(target.consumer)
        lanes = _claim(life, cursor, target, count=1 if single else _LANES_PER_CLAIM)
        if not lanes:
            return visit
        visit.end_lane = lanes[-1]
        candidates = _read(life, cursor, lanes)
        picks = choose(candidates, 1 if single else BATCH_MESSAGES)
        if picks:
            life.announce([pick.id for pick in picks])
            pairs = _bodies(life, cursor, picks, visit)
            one_by_one = one_by_one or any(pick.gated is False for pick, _ in pairs)
            work = run_pairs(life, target, cursor, pairs, one_by_one=one_by_one)
            finish(cursor, target, work)
            if len(work.served) < len(picks):
                life.announce([pick.id for pick in work.served])
    _remember(life, target, candidates, work, visit)
    return visit


def _claim(life: Life, cursor: psycopg.Cursor[Any], target: Target, count: int) -> list[int]:
    end = (target.id + 1) * queue.LANES_PER_CONSUMER
    return queue.claim(cursor, life.first_lane(target.id), end, count)


def _read(life: Life, cursor: psycopg.Cursor[Any], lanes: Sequence[int]) -> list[Candidate]:
    cap = max(8, -(-2 * BATCH_MESSAGES // len(lanes)))
    after = life.after(lanes)
    candidates = [Candidate(*key) for key in queue.read(cursor, lanes, after, cap)]
    if candidates and all(each.gated for each in candidates):
        # Many shut sessions in one stretch: pass them one probe each instead of row by row.
        last = {each.lane: each.session for each in candidates}
        after = [last.get(lane, start) for lane, start in zip(lanes, after, strict=True)]
        keys = queue.read_open(cursor, lanes, after, _SESSIONS_PROBED)
        candidates += [Candidate(*key) for key in keys]
    return candidates


def _bodies(
    life: Life, cursor: psycopg.Cursor[Any], picks: Sequence[Candidate], visit: Visit
) -> list[tuple[Candidate, queue.Body]]:
    """The picks with their bodies, without sessions in which another process may have died."""
    bodies = queue.bodies(cursor, [pick.id for pick in picks], life.slot)
    pairs = list(zip(picks, bodies, strict=True))
    suspects = {pick.session: pick for pick, body in pairs if body.is_suspect}
    for session, pick in sorted(suspects.items()):
        gates.suspect(cursor, session, pick.lane, until=pick.id)
        visit.aside += 1
    return [pair for pair in pairs if pair[0].session not in suspects]


def run_pairs(
    life: Life,
    target: Target,
    cursor: psycopg.Cursor[Any],
    pairs: Sequence[tuple[Candidate, queue.Body]],
    *,
    one_by_one: bool,
) -> _Work:
    """Run the handlers in order until the time of a batch is over; what happened.

    Wants the open transaction that holds the lanes of all pairs. In the optimistic run the first
    error ends it all; one by one, a failure shuts its session for the rest of the batch.
    """
    work = _Work(xid=pairs[0][1].xid if pairs else 0)
    started = perf_counter()
    for pick, body in pairs:
        if work.served and perf_counter() - started > BATCH_SECONDS:
            break
        if pick.session in work.shut:
            continue
        if one_by_one:
            if not _run_alone(life, target, cursor, (pick, body), work):
                work.shut.add(pick.session)
        else:
            _run_optimistic(life, target, (pick, body), work)
        work.served.append(pick)
    work.seconds = perf_counter() - started
    return work


def _run_optimistic(
    life: Life, target: Target, pair: tuple[Candidate, queue.Body], work: _Work
) -> None:
    pick, _ = pair
    try:
        ran = _call(life, target, pair)
    except Exception as error:
        if failure.is_infrastructure(error):
            life.strike(pick.id)
            raise
        raise _RedoError from error
    _finished(life, pick, ran, work)


def _run_alone(
    life: Life,
    target: Target,
    cursor: psycopg.Cursor[Any],
    pair: tuple[Candidate, queue.Body],
    work: _Work,
) -> bool:
    """Run one message behind a savepoint. False: it failed, its session is shut."""
    pick, body = pair
    try:
        with transaction.atomic():
            ran = _call(life, target, pair)
    except Skip as skip:
        _finished(life, pick, handler.Ran(None, 0.0), work)
        work.skipped += 1
        telemetry.message_event("skipped", target.consumer.name, body, reason=str(skip)[:200])
        return True
    except Exception as error:
        if isinstance(error, EndedTransactionError) or failure.is_infrastructure(error):
            life.strike(pick.id)
            raise
        _failed(life, target, cursor, (pick, body, error), work)
        return False
    _finished(life, pick, ran, work)
    return True


def _call(life: Life, target: Target, pair: tuple[Candidate, queue.Body]) -> handler.Ran:
    """Run the handler, unless an earlier run broke its transaction: that could not be recorded."""
    pick, body = pair
    why = life.why_condemned(pick.id)
    if why is not None:
        raise HandlerError(why)
    life.begins(pick.id, target.consumer)
    try:
        return handler.run(target.consumer, body, pick.failed_attempts + 1)
    except EndedTransactionError as error:
        life.condemn(pick.id, str(error))
        connection.close()  # What is left of the batch's transaction must not be committed.
        raise
    finally:
        life.rests()


def _finished(life: Life, pick: Candidate, ran: handler.Ran, work: _Work) -> None:
    life.forgive(pick.id)
    work.finished.append(
        queue.Finished(
            lane=pick.lane,
            session=pick.session,
            id=pick.id,
            milliseconds=ran.milliseconds,
            attempts=pick.failed_attempts + 1,
            result=ran.result,
        )
    )


def _failed(
    life: Life,
    target: Target,
    cursor: psycopg.Cursor[Any],
    what: tuple[Candidate, queue.Body, Exception],
    work: _Work,
) -> None:
    pick, body, error = what
    life.forgive(pick.id)
    case = failure.Failure(
        consumer=target.consumer, consumer_id=target.id, pick=pick, body=body, error=error
    )
    failure.settle(cursor, case, life.random, work.settled)
    work.failed += 1
    telemetry.message_event(
        "failed",
        target.consumer.name,
        body,
        attempt=pick.failed_attempts + 1,
        error_class=type(error).__qualname__,
    )


def finish(cursor: psycopg.Cursor[Any], target: Target, work: _Work) -> None:
    """The last act inside the transaction: alerts, markers and counters.

    Raises MarkerError, and so rolls everything back, unless exactly the batch left the queue: a
    handler that ended the transaction, or lanes that were not ours, cannot finish anything.
    """
    _keep_hooks_apart()
    due = {pick.session for pick in work.served if pick.gated is False} - work.shut
    if due:
        queue.clear_gates(cursor, sorted(due), [each.id for each in work.finished])
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


def _remember(
    life: Life, target: Target, candidates: Sequence[Candidate], work: _Work, visit: Visit
) -> None:
    """After the commit: cursors move past what was served, and the consumer's pace is learnt."""
    visit.done, visit.failed = len(work.finished), work.failed
    life.move_cursors(cursors(candidates, work.served))
    life.note_batch(
        target.consumer, done=visit.done, failed=visit.failed, milliseconds=work.seconds * 1000.0
    )
    served_lanes = {pick.lane for pick in work.served}
    open_lanes = sorted({c.lane for c in candidates if not c.gated} - served_lanes)
    life.go_on_after(target.id, open_lanes[0] - 1 if open_lanes else visit.end_lane)
