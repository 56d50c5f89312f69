"""What a worker's parent does beside Celery: listens, wakes its children, watches their time."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from threading import Event
from time import monotonic

import psycopg

from monitor import conf
from monitor.engine import telemetry
from monitor.store import connections, events, queue, workers
from monitor.worker.board import Board, Entry

POLL_SECONDS = 1.0
BEAT_SECONDS = 2.0
BLIND_SECONDS = 5.0
KILL_AFTER_SECONDS = 5.0  # past its limit, which the child itself should have raised
_AWAY_SECONDS = 0.5
_ANSWER_SECONDS = 15.0
_LONGEST_PAUSE_SECONDS = 0.02  # between two wake-ups while children are idle


class Parent:
    """Wakes idle children when something became ready, and at least every second."""

    def __init__(self, board: Board, wake: Callable[[], None], stop: Event) -> None:
        self._board = board
        self._wake = wake
        self._stop = stop
        self._slot = 0
        self._beaten_at = 0.0
        self._woken_at = monotonic()

    def listen(self) -> None:
        """Until stopped. A lost database costs a reconnect and one poll, never a message."""
        while not self._stop.is_set():
            try:
                with connections.connect(
                    autocommit=True, application_name="comboio wake-up"
                ) as own:
                    self._listen_on(own)
            except psycopg.Error as error:
                telemetry.engine_event("wake-up away", error_class=type(error).__qualname__)
                self._stop.wait(_AWAY_SECONDS)

    def watch(self) -> None:
        """Until stopped: kill a child whose handler ignores its time limit; forget dead ones."""
        while not self._stop.wait(KILL_AFTER_SECONDS / 10):
            for entry in self._board.entries():
                if not _lives(entry.pid):
                    self._board.clear(entry.index)
                elif entry.overdue_seconds() > KILL_AFTER_SECONDS:
                    telemetry.engine_event(
                        "child killed", pid=entry.pid, message_id=entry.message_id
                    )
                    self._board.clear(entry.index)
                    with suppress(ProcessLookupError):
                        os.kill(entry.pid, signal.SIGKILL)
                    _tell(entry)

    def _listen_on(self, own: connections.Connection) -> None:
        own.execute("LISTEN comboio_ready")
        self._slot = workers.register(own.cursor(), "worker", conf.release())
        try:
            while not self._stop.is_set():
                # The block that waits is shorter than this; longer means that no answer will come.
                with connections.deadline(own, _ANSWER_SECONDS):
                    self._beat(own)
                    self._wake_idle()
                    # One wake-up for all notifications that came meanwhile.
                    for _ in own.notifies(timeout=self._pause(own), stop_after=1):
                        pass
        finally:
            if self._stop.is_set():
                workers.leave(own.cursor(), self._slot)

    def _beat(self, own: connections.Connection) -> None:
        if monotonic() - self._beaten_at < BEAT_SECONDS:
            return
        self._beaten_at = monotonic()
        if not workers.beat(own.cursor(), self._slot):
            self._slot = workers.register(own.cursor(), "worker", conf.release())
        now = monotonic()
        children = [(each.pid, each.message_id, now - each.since) for each in self._board.entries()]
        workers.tell(own.cursor(), children)

    def _wake_idle(self) -> None:
        """What the board says only saves wake-ups: every few seconds one goes out all the same."""
        is_overdue = monotonic() - self._woken_at > BLIND_SECONDS
        if not is_overdue and (self._board.awaits_wake_up(POLL_SECONDS) or self._are_all_busy()):
            return
        self._woken_at = monotonic()
        self._board.sends_wake_up()
        self._wake()

    def _are_all_busy(self) -> bool:
        entries = self._board.entries()
        return bool(entries) and all(entry.is_draining for entry in entries)

    def _pause(self, own: connections.Connection) -> float:
        due = queue.seconds_until_due(own.cursor())
        if due is None:
            return POLL_SECONDS
        return min(max(due, _LONGEST_PAUSE_SECONDS), POLL_SECONDS)


def _tell(entry: Entry) -> None:
    """Say in the message's timeline why its worker was killed; without the database nobody does."""
    if not entry.message_id:
        return
    detail = {entry.message_id: {"limit_seconds": entry.limit_seconds}}
    with suppress(psycopg.Error), connections.connect(autocommit=True) as own:
        events.write_many(own.cursor(), "worker killed", detail)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
