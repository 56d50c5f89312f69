"""Boot steps of the Celery worker: wake-ups, the watch over its children, hosted receivers."""

from __future__ import annotations

from functools import partial
from threading import Event, Thread
from typing import Any

from celery import bootsteps
from celery.signals import worker_process_shutdown, worker_shutting_down

from monitor import conf
from monitor.sources import receiver
from monitor.worker import WAKE_UP, WAKE_UP_SECONDS, child
from monitor.worker.board import BOARD
from monitor.worker.parent import Parent
from monitor.worker.renewal import Renewal

_JOIN_SECONDS = 3.0


class ParentStep(bootsteps.StartStopStep):
    """Starts the parent's threads after the pool is forked, and stops them first."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **options: Any) -> None:
        super().__init__(worker, **options)
        self._stop = Event()
        self._threads: list[Thread] = []

    def start(self, worker: Any) -> None:
        """Start listening, watching and receiving."""
        wake = partial(worker.app.send_task, WAKE_UP, expires=WAKE_UP_SECONDS)
        parent = Parent(BOARD, wake, self._stop)
        self._threads = [
            Thread(target=parent.listen, name="wake-up", daemon=True),
            Thread(target=parent.watch, name="watch", daemon=True),
            Thread(target=Renewal(BOARD, self._stop).run, name="leases", daemon=True),
            *receiver.threads(conf.get(), self._stop),
        ]
        for thread in self._threads:
            thread.start()

    def stop(self, worker: Any) -> None:
        """Stop them; each returns within about a second."""
        self._stop.set()
        for thread in self._threads:
            thread.join(_JOIN_SECONDS)


STEPS = [ParentStep]


@worker_shutting_down.connect
def _tell_children(**_: Any) -> None:
    BOARD.stop()


@worker_process_shutdown.connect
def _end_life(**_: Any) -> None:
    child.end()
