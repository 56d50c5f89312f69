"""The parent: wakes idle children when something is ready, and ends handlers that ignore time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import pytest
from django.db import connection

from monitor.store import connections, workers
from monitor.worker import parent as parents
from monitor.worker.board import _SLOT, _SLOTS_AT, Board
from monitor.worker.parent import Parent
from tests.engine import consuming, delivery, send
from tests.rows import one, rows, run
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def listening(board: Board, woken: list[int]) -> Iterator[None]:
    """A parent that listens while the block runs; woken grows with each wake-up."""
    stop = Event()

    def wake() -> None:
        woken.append(1)
        board.drains(1)
        board.idles(1)

    own = Parent(board, wake, stop)
    thread = Thread(target=own.listen, daemon=True)
    thread.start()
    wait_until(lambda: one("SELECT count(*) FROM comboio_worker WHERE process = 'worker'"), 10)
    try:
        yield
    finally:
        stop.set()
        run("SELECT pg_notify('comboio_ready', '')")  # It waits for the next one.
        thread.join(5)
        assert not thread.is_alive()


def test_a_message_wakes_an_idle_child_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parents, "POLL_SECONDS", 60.0)
    woken: list[int] = []
    with listening(Board(), woken), consuming(lambda _payload, _message: None):
        wait_until(lambda: woken, 5)  # the first look
        before = len(woken)
        send(delivery("a"))
        wait_until(lambda: len(woken) > before, 5)


def test_busy_children_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parents, "POLL_SECONDS", 0.01)
    board, woken = Board(), list[int]()
    board.drains(0)
    with listening(board, woken):
        run("SELECT pg_notify('comboio_ready', '')")
        assert not woken
        board.idles(0)
        wait_until(lambda: woken, 5)


def test_a_lost_connection_costs_a_reconnect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parents, "POLL_SECONDS", 0.05)
    woken: list[int] = []
    with listening(Board(), woken):
        run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'comboio wake-up' AND datname = current_database()"
        )
        before = len(woken)
        wait_until(lambda: len(woken) > before + 3, 10)


def test_an_orderly_end_leaves_no_row_of_a_worker() -> None:
    with listening(Board(), []):
        pass
    assert one("SELECT count(*) FROM comboio_worker") == 0


def test_a_child_that_ignores_its_time_limit_is_killed() -> None:
    board, stop = Board(), Event()
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    board.runs(5, 1, -parents.KILL_AFTER_SECONDS - 1)
    _impersonate(board, 5, child.pid)
    watcher = Thread(target=Parent(board, lambda: None, stop).watch, daemon=True)
    watcher.start()
    assert child.wait(10) == -9
    stop.set()
    watcher.join(5)
    assert board.entries() == []


def _impersonate(board: Board, index: int, pid: int) -> None:
    """Write another process's id into a slot."""
    offset = _SLOTS_AT + index * _SLOT.size
    board._memory[offset : offset + 4] = pid.to_bytes(4, "little")


def test_while_a_wake_up_is_on_its_way_no_other_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    board, sent, stop = Board(), list[int](), Event()
    monkeypatch.setattr(parents, "POLL_SECONDS", 60.0)
    own = Parent(board, lambda: sent.append(1), stop)
    thread = Thread(target=own.listen, daemon=True)
    thread.start()
    wait_until(lambda: sent, 10)
    run("SELECT pg_notify('comboio_ready', '')")
    board.drains(0)  # The child begins, and has done before the next notification.
    board.idles(0)
    run("SELECT pg_notify('comboio_ready', '')")
    wait_until(lambda: len(sent) >= 2, 10)
    stop.set()
    run("SELECT pg_notify('comboio_ready', '')")
    thread.join(5)
    assert len(sent) <= 3


def test_a_board_that_lies_costs_seconds_never_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parents, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(parents, "BLIND_SECONDS", 0.1)
    board, woken = Board(), list[int]()
    board.drains(0)  # As a child that was killed while it drained leaves it.
    with listening(board, woken):
        wait_until(lambda: len(woken) >= 3, 10)


def test_a_child_that_is_gone_is_forgotten() -> None:
    board, stop = Board(), Event()
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait(10)
    board.drains(5)
    _impersonate(board, 5, child.pid)
    watcher = Thread(target=Parent(board, lambda: None, stop).watch, daemon=True)
    watcher.start()
    wait_until(lambda: not board.entries(), 10)
    stop.set()
    watcher.join(5)


def test_each_heartbeat_tells_what_the_children_do() -> None:
    board = Board()
    with connection.cursor() as cursor:
        workers.register(cursor, "child")
    board.runs(0, 42, 30.0)  # by this process, which stands for its child
    told = (
        "SELECT message_id, since < clock_timestamp() FROM comboio_worker WHERE process = 'child'"
    )
    with listening(board, []):
        wait_until(lambda: rows(told) == [(42, True)], 5)


def test_a_child_that_rests_runs_nothing() -> None:
    with connection.cursor() as cursor:
        workers.register(cursor, "child")
        assert workers.tell(cursor, [(os.getpid(), 42, 1.5)]) == 1
        assert workers.tell(cursor, [(os.getpid(), 0, 0.0)]) == 1
    assert rows("SELECT message_id, since FROM comboio_worker") == [(None, None)]


def test_a_row_that_somebody_holds_is_left_for_the_next_heartbeat() -> None:
    with connection.cursor() as cursor:
        workers.register(cursor, "child")
    other = connections.connect()
    other.execute("SELECT FROM comboio_worker FOR UPDATE")
    with connection.cursor() as cursor:
        assert workers.tell(cursor, [(os.getpid(), 42, 1.5)]) == 0
    other.close()
