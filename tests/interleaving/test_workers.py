"""Workers of atomic consumers against each other, against an operator, and after a crash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from monitor.domain.actor import Actor, Permission
from monitor.engine import deaths
from monitor.engine.life import Life
from monitor.operations import messages, sessions
from monitor.store import connections, workers
from tests import factories
from tests.engine import consuming, delivery, send
from tests.interleaving.explorer import Explored, Pair
from tests.interleaving.world import (
    audited,
    book,
    booked,
    owner,
    settle,
    states,
    version,
    work,
)
from tests.rows import one

Explore = Callable[..., Explored]
ANNA = Actor(name="anna", permissions=frozenset(Permission))


def _work(_state: object) -> int:
    return work()


def _three_in_a_session() -> None:
    send(*[delivery(f"k{n}", session="s") for n in range(3)], delivery("other", session="t"))


def _check_three(_state: object, *moved: int) -> None:
    assert sum(moved) > 0
    settle()
    assert [key for key in booked() if key != "other"] == ["k0", "k1", "k2"]
    assert sorted(booked()) == ["k0", "k1", "k2", "other"]
    assert states()["done"] == 4
    assert one("SELECT count(*) FROM comboio_gate") == 0


def test_two_workers_run_a_session_once_and_in_order(explore: Explore) -> None:
    with consuming(book):
        owner()
        explore(Pair(prepare=_three_in_a_session, actors=(_work, _work), check=_check_three))


def test_a_message_that_fails_beside_another_worker_keeps_its_place(explore: Explore) -> None:
    """The batch is rolled back and done again one by one; a retry is due at once."""
    failed: list[str] = []

    def fail_once(payload: Any, message: Any) -> None:
        book(payload, message)
        if message.key == "k0" and not failed:
            failed.append(message.key)
        if message.key == "k0" and message.attempt == 1:
            raise ValueError("not yet")

    with consuming(fail_once):
        owner()
        explore(Pair(prepare=_three_in_a_session, actors=(_work, _work), check=_check_three))
    assert failed


def test_after_hold_returned_nothing_of_the_session_runs(explore: Explore) -> None:
    def hold(session: int) -> list[str]:
        sessions.hold(ANNA, session, reason="look first")
        return booked()

    def prepare() -> int:
        send(delivery("k0", session="s"), delivery("k1", session="s"))
        return int(one("SELECT min(session) FROM comboio_message"))

    def check(session: int, _moved: int, when_held: list[str]) -> None:
        settle()
        assert booked() == when_held
        sessions.resume(ANNA, session, seen=version("comboio_gate", session, "session"))
        settle()
        assert booked() == ["k0", "k1"]
        assert audited() == [("hold", "anna"), ("resume", "anna")]

    with consuming(book):
        owner()
        explore(Pair(prepare=prepare, actors=(_work, hold), check=check))


def test_a_dead_head_that_is_requeued_runs_before_its_follower(explore: Explore) -> None:
    def prepare() -> tuple[int, int]:
        dead = factories.message(number, state="dead", key="head", session="s", holds=True)
        factories.message(number, key="follower", session="s")
        return dead, version("comboio_dead", dead)

    def check(_state: object, _moved: int, done: Any) -> None:
        assert done.count == 1
        settle()
        assert booked() == ["head", "follower"]
        assert audited() == [("requeue", "anna")]

    def requeue(dead: tuple[int, int]) -> Any:
        return messages.requeue(ANNA, dead[0], seen=dead[1])

    with consuming(book, when_dead="hold"):
        number = owner()
        explore(Pair(prepare=prepare, actors=(_work, requeue), check=check))


def _crashed() -> None:
    """A process announced the first message and died; its neighbours are no suspects."""
    _three_in_a_session()
    cursor = connections.shared_cursor()
    slot = workers.register(cursor, "child")
    workers.announce(cursor, slot, [int(one("SELECT min(id) FROM comboio_message"))])


def test_two_workers_that_find_a_suspect_run_it_once_and_first(explore: Explore) -> None:
    def check(*arguments: Any) -> None:
        _check_three(*arguments)
        assert states()["dead"] == 0

    with consuming(book):
        owner()
        explore(Pair(prepare=_crashed, actors=(_work, _work), check=check))


def test_a_suspect_that_takes_its_turn_beside_a_batch_runs_once_and_first(
    explore: Explore,
) -> None:
    def prepare() -> None:
        _crashed()
        life = Life("test")
        deaths.gather(life)  # finds the suspect and shuts its session
        life.end()

    with consuming(book):
        owner()
        explore(Pair(prepare=prepare, actors=(_work, _work), check=_check_three))
