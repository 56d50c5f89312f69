"""What happens on a clock: each chore is small, has its own lock, and may run in any process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db import connection, transaction

from monitor.maintenance import numbering, patience, reconcile, retention
from monitor.operations import carrying
from monitor.store import chores, rollup, snapshots, waiting, workers
from monitor.store.sql import Cursor

_DELTAS_A_TURN = 20_000
_DUE_A_TURN = 2_000
_CHART_DAYS = 30
_MINUTE_HOURS = 26  # how long minutes are kept one by one; the charts of a day need 24
_MINUTES_A_TURN = 50_000
_CHORE_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Chore:
    """A piece of work that is due again every so many seconds. run says how much it did."""

    name: str
    every_seconds: float
    run: Callable[[Cursor], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LongChore:
    """Work that waits for others: outside any transaction, so run opens its own where it needs one.

    Several processes may do it at once.
    """

    name: str
    every_seconds: float
    run: Callable[[], int]


def _fold(cursor: Cursor) -> int:
    return rollup.fold(cursor, _DELTAS_A_TURN)


def _compact_minutes(cursor: Cursor) -> int:
    return rollup.compact(cursor, _MINUTE_HOURS, _MINUTES_A_TURN)


def _forget_minutes(cursor: Cursor) -> int:
    return rollup.prune(cursor, _CHART_DAYS)


def _release_due(cursor: Cursor) -> int:
    return waiting.release(cursor, _DUE_A_TURN)


CHORES = (
    Chore(name="release due", every_seconds=1.0, run=_release_due),
    Chore(name="fold counters", every_seconds=2.0, run=_fold),
    Chore(name="take snapshot", every_seconds=5.0, run=snapshots.take),
    Chore(name="end holds", every_seconds=5.0, run=chores.end_holds),
    Chore(name="tell gaps", every_seconds=5.0, run=numbering.tell_gaps),
    Chore(name="adopt unnumbered", every_seconds=60.0, run=numbering.adopt),
    Chore(name="prune workers", every_seconds=30.0, run=workers.prune),
    Chore(name="compact minutes", every_seconds=300.0, run=_compact_minutes),
    Chore(name="prune minutes", every_seconds=3600.0, run=_forget_minutes),
    Chore(name="forget requeues", every_seconds=60.0, run=carrying.forget),
)

# Each row in a thread of its own: a provider that hangs stops neither the figures nor a requeue.
REQUEUES = (LongChore(name="requeue many", every_seconds=0.5, run=carrying.carry_on_all),)
LONG_CHORES: tuple[LongChore, ...] = (
    LongChore(name="reconcile", every_seconds=1.0, run=reconcile.run),
    *(
        LongChore(name=each.name, every_seconds=each.every_seconds, run=each.run)
        for each in retention.PURGES
    ),
)


def run_once(chore: Chore | LongChore) -> int:
    """Do a chore; how much it did, 0 when another process is at it. Wants no transaction.

    A short one is done in a transaction of its own.
    """
    if isinstance(chore, LongChore):
        return chore.run()
    with patience.limited(), transaction.atomic(), connection.cursor() as cursor:
        if not chores.begin(cursor, chore.name, _CHORE_SECONDS):
            return 0
        return chore.run(cursor)
