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
from monitor.engine import telemetry
from monitor.engine.choose import Candidate, choose, cursors
from monitor.engine.life import Life
from monitor.engine.work import RedoError, Target, Work, finish, run_pairs
from monitor.store import gates, planning, queue

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


def run(life: Life, target: Target) -> Visit:
    """Claim lanes of the consumer and run their messages; what that did.

    Opens and commits its own transaction on Django's connection. Infrastructure errors come out:
    nothing was done then, and no attempt is counted.
    """
    try:
        return _run_once(life, target, one_by_one=life.is_failing(target.consumer))
    except (RedoError, EndedTransactionError):
        return _run_once(life, target, one_by_one=True)
    except MarkerError as error:
        life.search_culprit(target.consumer, error.message_ids)
        telemetry.engine_event("batch not finished", consumer=target.consumer.name, text=str(error))
        return _run_once(life, target, one_by_one=True)


def _run_once(life: Life, target: Target, *, one_by_one: bool) -> Visit:
    visit, work = Visit(), Work()
    with transaction.atomic(durable=True):
        cursor = life.cursor()
        planning.by_index(cursor)
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


def _remember(
    life: Life, target: Target, candidates: Sequence[Candidate], work: Work, visit: Visit
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
