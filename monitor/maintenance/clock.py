"""The loop of the clock process: every chore when it is due, whatever happens to the others."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event, Thread
from time import monotonic

import psycopg
import structlog
from django.db import DatabaseError, InterfaceError, connection

from monitor.maintenance.chores import (
    CHORES,
    LONG_CHORES,
    REQUEUES,
    Chore,
    LongChore,
    run_once,
)

_log = structlog.get_logger("comboio.clock")
_JOIN_SECONDS = 3.0


def run_all(stop: Event) -> None:
    """Until stop is set: the short chores here, the long ones beside them.

    When one of their threads ends by a fault, all ends: a clock that does half of its work is worse
    than one that is started again.
    """
    beside = [
        Thread(target=_run_beside, args=(stop, chores), name=chores[0].name, daemon=True)
        for chores in (LONG_CHORES, REQUEUES)
    ]
    for thread in beside:
        thread.start()
    run(stop)
    for thread in beside:
        thread.join(_JOIN_SECONDS)


def _run_beside(stop: Event, chores: Sequence[LongChore]) -> None:
    try:
        run(stop, chores)
    finally:
        stop.set()


def run(stop: Event, chores: Sequence[Chore | LongChore] = CHORES) -> None:
    """Until stop is set. A chore that fails is logged and due again after its time."""
    due = {chore.name: monotonic() for chore in chores}
    while not stop.is_set():
        for chore in chores:
            if monotonic() >= due[chore.name]:
                due[chore.name] = monotonic() + chore.every_seconds
                _do(chore)
        stop.wait(max(min(due.values()) - monotonic(), 0.05))
    connection.close()


def _do(chore: Chore | LongChore) -> None:
    try:
        run_once(chore)
    except (DatabaseError, InterfaceError, psycopg.Error) as error:
        _log.warning("chore failed", chore=chore.name, error_class=type(error).__qualname__)
        connection.close()
