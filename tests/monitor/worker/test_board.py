"""The shared board: what children write, their parent reads, also after a kill."""

from __future__ import annotations

import os

from monitor.worker.board import Board


def _in_a_child(board: Board, index: int, message_id: int) -> int:
    pid = os.fork()
    if pid == 0:
        board.runs(index, message_id, 30.0)
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def test_a_parent_sees_what_its_child_ran_also_when_the_child_is_gone() -> None:
    board = Board()
    pid = _in_a_child(board, 3, 4711)
    (entry,) = board.entries()
    assert (entry.index, entry.pid, entry.message_id, entry.is_draining) == (3, pid, 4711, True)


def test_an_idle_child_is_shown_as_idle() -> None:
    board = Board()
    board.drains(0)
    board.idles(0)
    (entry,) = board.entries()
    assert not entry.is_draining
    assert entry.overdue_seconds() == 0.0


def test_a_message_past_its_limit_is_overdue() -> None:
    board = Board()
    board.runs(0, 1, -5.0)
    (entry,) = board.entries()
    assert entry.overdue_seconds() >= 5.0
    board.clear(0)
    assert board.entries() == []


def test_the_flag_to_stop_reaches_children_that_were_forked_before() -> None:
    board = Board()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writing)
        os.read(reading, 1)  # Until the parent has set the flag.
        os._exit(0 if board.is_stopping() else 1)
    board.stop()
    os.close(writing)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(reading)
