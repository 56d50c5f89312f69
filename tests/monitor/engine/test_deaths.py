"""What ended process lives left in the queue is found by their rows, however long the queue is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from monitor.engine import deaths
from monitor.engine.life import Life
from monitor.store import connections
from tests.engine import consuming, delivery, die_with, drain_all, send
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db(transaction=True)


def _nothing(_payload: Any, _message: Any) -> None:
    pass


def _send(*sessions: str) -> list[int]:
    receipts = send(*[delivery(f"m{n}", session=each) for n, each in enumerate(sessions)])
    return [receipt.message_id for (receipt,) in receipts]


def _gather() -> None:
    life = Life("test")
    deaths.gather(life)
    life.end()


def _suspects() -> dict[str, int]:
    """Up to which message each suspect session runs alone."""
    statement = (
        "SELECT s.key, g.solo_until FROM comboio_gate g JOIN comboio_session s ON s.id = g.session"
    )
    return dict(rows(f"{statement} WHERE g.solo_until IS NOT NULL"))


def _announced() -> list[list[int]]:
    return [row[0] for row in rows("SELECT ids FROM comboio_worker WHERE ids <> '{}'")]


@contextmanager
def _busy(session: str) -> Iterator[None]:
    """Another process holds the lane of this session."""
    lane = one(
        "SELECT r.lane FROM comboio_ready r JOIN comboio_session s ON s.id = r.session"
        " WHERE s.key = %(key)s",
        key=session,
    )
    with closing(connections.connect()) as own:
        own.execute("SELECT FROM comboio_lane WHERE lane = %s FOR UPDATE", [lane])
        yield


def test_every_session_of_its_batch_is_suspect_up_to_its_last_message() -> None:
    with consuming(_nothing):
        ids = _send("a", "b", "a")
        die_with(*ids)
        _gather()
    assert _suspects() == {"a": ids[2], "b": ids[1]}
    assert _announced() == []


def test_who_lives_leaves_no_suspect() -> None:
    with consuming(_nothing):
        ids = _send("a")
        other = Life("other")
        other.announce(ids)
        _gather()
        assert (_suspects(), _announced()) == ({}, [ids])
        other.end()


def test_what_was_finished_is_no_suspect() -> None:
    with consuming(_nothing):
        ids = _send("a", "b")
        drain_all()
        die_with(*ids)
        _gather()
    assert (_suspects(), _announced()) == ({}, [])


def test_sessions_that_another_works_on_are_left_for_the_next_look_and_stay_a_batch() -> None:
    with consuming(_nothing):
        ids = _send("a", "b")
        die_with(*ids)
        with _busy("b"):
            _gather()
            assert _suspects() == {"a": ids[0]}
            assert [len(each) for each in _announced()] == [2]
        _gather()
    assert (_suspects(), _announced()) == ({"a": ids[0], "b": ids[1]}, [])


def test_the_death_of_a_suspect_alone_is_left_for_its_turn_to_count() -> None:
    with consuming(_nothing):
        ids = _send("a")
        for _ in range(2):
            die_with(*ids)
            _gather()
        assert _announced() == [ids]
        die_with(*ids)
        drain_all()  # three starts ended with a death: the first was the batch
    assert rows("SELECT id, reason FROM comboio_dead") == [(ids[0], "crashed worker")]


def test_who_failed_alone_is_not_suspected_of_the_same_death_again() -> None:
    def fail_twice(_payload: Any, message: Any) -> None:
        if message.attempt <= 2:
            raise ValueError("not yet")

    with consuming(fail_twice):
        ids = _send("a")
        die_with(*ids)
        drain_all()
        assert _suspects() == {}
        run("UPDATE comboio_gate SET retry_at = now()")
        _gather()
        assert _suspects() == {}
        drain_all()
    assert one("SELECT attempts FROM comboio_done") == 3
