"""The loop of the clock process: every chore when it is due, whatever happens to the others."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from time import monotonic

import structlog
from django.db import DatabaseError, InterfaceError, connection

from monitor.maintenance.chores import CHORES, Chore, run_once

_log = structlog.get_logger("comboio.clock")


def run(stop: Event, chores: Sequence[Chore] = CHORES) -> None:
    """Until stop is set. A chore that fails is logged and due again after its time."""
    due = {chore.name: monotonic() for chore in chores}
    while not stop.is_set():
        for chore in chores:
            if monotonic() >= due[chore.name]:
                due[chore.name] = monotonic() + chore.every_seconds
                _do(chore)
        stop.wait(max(min(due.values()) - monotonic(), 0.05))
    connection.close()


def _do(chore: Chore) -> None:
    try:
        run_once(chore)
    except (DatabaseError, InterfaceError) as error:
        _log.warning("chore failed", chore=chore.name, error_class=type(error).__qualname__)
        connection.close()
