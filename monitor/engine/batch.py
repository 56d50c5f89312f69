"""One batch of one consumer: claim, read, choose, run, finish, in ONE transaction.

First optimistically, without savepoints; when a handler raises, everything is rolled back and the
same lanes are done again with a savepoint for each message: only the failing one is affected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import transaction

from monitor.domain.errors import EndedTransactionError, MarkerError
from monitor.engine import deaths, numbers, telemetry
from monitor.engine.choose import Candidate, choose, cursors
from monitor.engine.life import Life
from monitor.engine.span import Span
from monitor.engine.target import Target
from monitor.engine.work import RedoError, Work, finish, run_pairs
from monitor.store import gates, permits, planning, queue, workers

BATCH_MESSAGES = 200
_LANES_PER_CLAIM = 16
_SESSIONS_PROBED = 50


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


def run(life: Life, target: Target, span: Span) -> Visit:
    """Claim lanes of the consumer within the span and run their messages; what that did.

    Opens and commits its own transaction on Django's connection. Infrastructure errors come out:
    nothing was done then, and no attempt is counted.
    """
    try:
        return _run_once(life, target, span, one_by_one=life.is_failing(target.consumer))
    except (RedoError, EndedTransactionError):
        return _run_once(life, target, span, one_by_one=True)
    except MarkerError as error:
        life.search_culprit(target.consumer, error.message_ids)
        telemetry.engine_event("batch not finished", consumer=target.consumer.name, text=str(error))
        return _run_once(life, target, span, one_by_one=True)


def _run_once(life: Life, target: Target, span: Span, *, one_by_one: bool) -> Visit:
    visit, work = Visit(), Work()
    life.rests()
    with transaction.atomic(durable=True):
        cursor = life.cursor()
        planning.by_index(cursor)
        if not permits.take(cursor, target.id, target.consumer.concurrency):
            return visit
        single = target.is_probe or life.runs_single(target.consumer)
        count = 1 if single else _LANES_PER_CLAIM
        lanes = queue.claim(cursor, life.first_lane(span), span.end, count)
        if not lanes:
            return visit
        visit.end_lane = lanes[-1]
        candidates = _read(life, cursor, target, lanes)
        candidates, visit.aside = numbers.judge(cursor, target, candidates, life.slot)
        picks = choose(candidates, 1 if single else BATCH_MESSAGES)
        if picks:
            life.announce([pick.id for pick in picks])
            pairs = _bodies(life, target, cursor, picks, visit)
            one_by_one = one_by_one or any(pick.gated is False for pick, _ in pairs)
            try:
                work = run_pairs(life, target, pairs, one_by_one=one_by_one)
            except RedoError:
                life.withdraw()  # While the lanes are still ours: nobody died.
                raise
            finish(cursor, target, work)
            if len(work.finished) < len(picks):
                # What failed or was not reached stays in the queue, and nobody died of it.
                life.announce([each.id for each in work.finished])
    _remember(life, target, (span, candidates), work, visit)
    return visit


def _read(
    life: Life, cursor: psycopg.Cursor[Any], target: Target, lanes: Sequence[int]
) -> list[Candidate]:
    cap = max(8, -(-2 * BATCH_MESSAGES // len(lanes)))
    after, is_numbered = life.after(lanes), target.consumer.numbered is not None
    keys = queue.read(cursor, lanes, after, cap, is_numbered=is_numbered)
    candidates = [Candidate(*key) for key in keys]
    if candidates and all(each.gated for each in candidates):
        # Many shut sessions in one stretch: pass them one probe each instead of row by row.
        last = {each.lane: each.session for each in candidates}
        after = [last.get(lane, start) for lane, start in zip(lanes, after, strict=True)]
        keys = queue.read_open(cursor, lanes, after, _SESSIONS_PROBED, is_numbered=is_numbered)
        candidates += [Candidate(*key) for key in keys]
    return candidates


def _bodies(
    life: Life,
    target: Target,
    cursor: psycopg.Cursor[Any],
    picks: Sequence[Candidate],
    visit: Visit,
) -> list[tuple[Candidate, queue.Body]]:
    """The picks with their bodies, without sessions in which another process may have died."""
    bodies = queue.bodies(cursor, [pick.id for pick in picks], life.slot)
    pairs = list(zip(picks, bodies, strict=True))
    named = [pick.id for pick, body in pairs if body.is_suspect]
    if not named:
        return pairs
    ended = deaths.ended(cursor, life.slot, named)
    dying = {id_ for ids in ended.values() for id_ in ids}
    suspects = {pick.session: pick for pick, _ in pairs if pick.id in dying}
    visit.aside += len(suspects)
    if suspects:
        gates.suspect(cursor, {session: (pick.lane, pick.id) for session, pick in suspects.items()})
        # A batch of one names its killer too; as the first death it is counted by the gate.
        workers.take_deaths(cursor, ended, [pick.id for pick in suspects.values()])
        life.finds_suspects(target.id)
    return [pair for pair in pairs if pair[0].session not in suspects]


def _remember(
    life: Life,
    target: Target,
    seen: tuple[Span, Sequence[Candidate]],
    work: Work,
    visit: Visit,
) -> None:
    """After the commit: cursors move past what was served, and the consumer's pace is learnt."""
    span, candidates = seen
    visit.done, visit.failed = len(work.finished), work.failed
    if work.settled.away:
        life.finds_away(target.id)
    life.move_cursors(cursors(candidates, work.served))
    life.note_batch(
        target.consumer, done=visit.done, failed=visit.failed, milliseconds=work.seconds * 1000.0
    )
    served_lanes = {pick.lane for pick in work.served}
    open_lanes = sorted({c.lane for c in candidates if not c.gated} - served_lanes)
    life.go_on_after(span, open_lanes[0] - 1 if open_lanes else visit.end_lane)
