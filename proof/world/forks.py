"""python -m proof.world.forks BOARD WORKERS: the parent of the fleet.

Everything is imported before the first fork, so a killed worker costs a fork and two connections.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import NoReturn

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proof.settings")
django.setup()

from django.db import connection  # noqa: E402 - models need the set-up above

from config.launch.process import die_with_parent  # noqa: E402
from monitor.engine import box  # noqa: E402
from monitor.engine.life import Life  # noqa: E402
from monitor.maintenance import clock  # noqa: E402
from monitor.worker.parent import Parent  # noqa: E402
from monitor.worker.renewal import Renewal  # noqa: E402
from proof import history  # noqa: E402
from proof.world.board import CLOCK, FIRST_WORKER, STEWARD, SharedBoard  # noqa: E402

_IDLE_SECONDS = 0.02
_FAULTY_SECONDS = 0.2  # before one that ended by a fault is replaced
_STOP_SECONDS = 5.0
_CLOCK_STATEMENTS = " -c statement_timeout=25s -c idle_in_transaction_session_timeout=35s"


def _work(board: SharedBoard, index: int) -> None:
    history.write("worker", index=index)
    life = Life("child", note=partial(board.runs, index))
    signals = box.Signals(
        drains=partial(board.drains, index),
        idles=partial(board.idles, index),
        is_stopping=board.is_stopping,
    )
    while not board.is_stopping():
        try:
            has_more = box.run(life, signals)
        except Exception as error:  # as Celery: the task is over, the child goes on
            traceback.print_exc()
            history.write("worker error", error=type(error).__qualname__, text=str(error)[:500])
            has_more = False
        if not has_more:
            time.sleep(_IDLE_SECONDS)
    life.end()


def _renew(board: SharedBoard, _index: int) -> None:
    """What the parent of the product's worker does; the children drain without wake-ups."""
    board.idles(STEWARD)
    stop = Event()
    watch = Parent(board, lambda: None, stop).watch
    Thread(target=watch, daemon=True).start()
    Renewal(board, stop).run()


def _keep_time(board: SharedBoard, _index: int) -> None:
    board.idles(CLOCK)
    connection.settings_dict["OPTIONS"]["options"] += _CLOCK_STATEMENTS
    clock.run_all(Event())


class Forks:
    """The steward, the clock and the workers; who dies by a signal is replaced at once."""

    def __init__(self, board: SharedBoard, workers: int) -> None:
        self._board = board
        self._jobs: list[Callable[[SharedBoard, int], None]] = [
            _renew,
            _keep_time,
            *[_work] * workers,
        ]
        self._indexes: dict[int, int] = {}

    def run(self) -> NoReturn:
        """Until SIGTERM; then the workers finish, and it ends."""
        signal.signal(signal.SIGTERM, lambda *_: self._stop())
        gc.freeze()  # what the children share is not copied by their collectors
        for index in range(len(self._jobs)):
            self._fork(index)
        while True:
            pid, status = os.wait()
            index = self._indexes.pop(pid)
            if not os.WIFSIGNALED(status):
                history.write("worker ended", index=index, status=status)
                time.sleep(_FAULTY_SECONDS)
            self._fork(index)

    def _fork(self, index: int) -> None:
        parent = os.getpid()
        # Between the fork and its entry here a SIGTERM would miss the child.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        pid = os.fork()
        if pid == 0:
            self._live(index, parent)
        self._indexes[pid] = index
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

    def _live(self, index: int, parent: int) -> NoReturn:
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
            die_with_parent(signal.SIGKILL)
            if os.getppid() == parent:
                self._jobs[index](self._board, index)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)

    def _stop(self) -> NoReturn:
        """The workers end by themselves, the others are killed."""
        self._board.stop()
        deadline = time.monotonic() + _STOP_SECONDS
        for pid, index in self._indexes.items():
            if index < FIRST_WORKER:
                os.kill(pid, signal.SIGKILL)
            os.kill(pid, signal.SIGCONT)
        while self._indexes and time.monotonic() < deadline:
            with suppress(ChildProcessError):
                pid, _ = os.waitpid(-1, os.WNOHANG)
                self._indexes.pop(pid, None)
            time.sleep(_IDLE_SECONDS)
        for pid in self._indexes:
            os.kill(pid, signal.SIGKILL)
        os._exit(0)


if __name__ == "__main__":
    Forks(SharedBoard(Path(sys.argv[1])), int(sys.argv[2])).run()
