"""Bugs of the marker: the removal from the queue belongs to the transaction of the effects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import psycopg
from django.db import OperationalError, connection, transaction

from monitor.engine import batch, work
from monitor.engine.life import Life
from monitor.engine.target import Target
from monitor.engine.work import Work
from monitor.store import connections, queue
from proof.mutants.mutant import Mutant, put

_MANY = 50
Pairs = Sequence[tuple[Any, queue.Body]]


def _marker_first() -> None:
    def run_pairs(life: Life, target: Target, pairs: Pairs, **how: Any) -> Work:
        own = life._connection()
        rows = [_finished(pick) for pick, _ in pairs]
        with own.transaction():
            xid = queue.transaction_id(own.cursor())
            queue.finish(own.cursor(), target.id, xid, rows, [("processed", "done", len(rows))])
        return work.run_pairs(life, target, pairs, **how)

    put(batch, "run_pairs", run_pairs)
    put(batch, "finish", lambda *_: None)


def _marker_last() -> None:
    def finish(_cursor: Any, target: Target, done: Work) -> None:
        transaction.on_commit(partial(later, target, done))

    @transaction.atomic
    def later(target: Target, done: Work) -> None:
        cursor = connections.shared_cursor()
        done.xid = queue.transaction_id(cursor)
        work.finish(cursor, target, done)

    put(batch, "finish", finish)


def _unknown_commit_as_failure() -> None:
    run = batch.run
    back = "WITH back AS (DELETE FROM comboio_done WHERE id IN (SELECT unnest(ids) FROM comboio_worker WHERE slot = %s) RETURNING id) INSERT INTO comboio_ready (lane, session, id) SELECT lane, session, id FROM comboio_message JOIN back USING (id)"  # noqa: E501

    def handed_back(life: Life, *where: Any) -> batch.Visit:
        try:
            return run(life, *where)
        except (OperationalError, psycopg.OperationalError):
            connection.close()
            life.cursor().execute(back, [life.slot])
            raise

    put(batch, "run", handed_back)


def _counters_in_memory() -> None:
    finish, kept = queue.finish, dict[int, list[Any]]()

    def later(cursor: Any, consumer: int, xid: int, done: Any, counters: Any) -> int:
        mine = [*kept.get(consumer, []), *counters]
        kept[consumer] = mine if len(mine) < _MANY else []
        return finish(cursor, consumer, xid, done, [] if kept[consumer] else mine)

    put(queue, "finish", later)


def _finished(pick: Any) -> queue.Finished:
    return queue.Finished(
        lane=pick.lane,
        session=pick.session,
        id=pick.id,
        milliseconds=1.0,
        attempts=pick.failed_attempts + 1,
        result=None,
        type="",
    )


MUTANTS = (
    Mutant(
        name="marker first",
        rule="A message is marked as done in the transaction of its effects, not before it.",
        seam="engine/batch.py run_pairs, finish",
        scene="kills",
        expected=("ledger",),
        apply=_marker_first,
    ),
    Mutant(
        name="marker last",
        rule="A message is marked as done in the transaction of its effects, not after it.",
        seam="engine/batch.py finish",
        scene="kills",
        expected=("ledger",),
        apply=_marker_last,
    ),
    Mutant(
        name="unknown commit as failure",
        rule="A commit whose answer was lost is looked up, not taken for one that failed.",
        seam="engine/batch.py run",
        scene="cuts",
        expected=("ledger",),
        apply=_unknown_commit_as_failure,
    ),
    Mutant(
        name="counters in memory",
        rule="Figures are counted in the transaction of what they count.",
        seam="store/queue.py finish",
        scene="kills",
        expected=("figures",),
        apply=_counters_in_memory,
    ),
)
