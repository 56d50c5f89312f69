"""External consumers: holders of a lease, their takers-over, and whoever else ends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from monitor.domain.actor import Actor, Permission
from monitor.domain.effect import Call, Effect
from monitor.domain.errors import RefusedError
from monitor.operations import Done, sessions
from monitor.store import connections, leases
from tests import factory_effects
from tests.engine import consuming, delivery, send
from tests.interleaving.explorer import Explored, Explorer, Pair
from tests.interleaving.world import audited, book, booked, owner, settle, states, work
from tests.rows import one, rows, run

Explore = Callable[..., Explored]
ANNA = Actor(name="anna", permissions=frozenset(Permission))
LOOKS = 5  # of an external worker until it has run a message


@contextmanager
def _charging() -> Iterator[list[str]]:
    """An external consumer that charges and then books; the keys of the calls."""
    called: list[str] = []

    def call(found: Call) -> dict[str, str]:
        called.append(found.key)
        return {"charge": found.key}

    def handler(payload: Any, message: Any) -> None:
        message.effect("charge", {"cents": 5})
        with message.transaction():
            book(payload, message)

    effect = Effect(name="charge", call=call, kind="keyed")
    with consuming(handler, external=True, effects=(effect,), lease_seconds=30.0):
        owner()
        yield called


def _expire(_state: object = None) -> None:
    run("UPDATE comboio_lease SET expires_at = clock_timestamp() - interval '1 second'")


def _send(_called: list[str]) -> Callable[[], None]:
    def prepare() -> None:
        _called.clear()
        send(delivery("k", session="s"))

    return prepare


def _work(_state: object) -> int:
    return work(LOOKS)


def _counted(name: str, label: str = "") -> int:
    found = one(
        "SELECT coalesce(sum(value), 0) FROM comboio_rollup_delta"
        " WHERE name = %(name)s AND label = %(label)s",
        name=name,
        label=label,
    )
    return int(found)


def _check_once(called: list[str]) -> Callable[..., None]:
    """The message is done once, its charge is one, and nobody holds its session."""

    def check(*_outcomes: Any) -> None:
        _expire()
        settle()
        assert booked() == ["k"]
        assert states()["done"] == 1
        assert rows("SELECT state FROM comboio_effect") == [("completed",)]
        assert len(set(called)) == 1
        assert one("SELECT count(*) FROM comboio_lease") == 0

    return check


def _taken_over(called: list[str]) -> Pair[None]:
    def take_over(_state: None) -> int:
        _expire()
        return work(LOOKS)

    return Pair(prepare=_send(called), actors=(_work, take_over), check=_check_once(called))


def test_a_holder_and_its_taker_over_finish_the_message_once(explore: Explore) -> None:
    with _charging() as called:
        explore(_taken_over(called))


def test_a_holder_that_is_taken_over_before_its_last_act_is_refused(explorer: Explorer) -> None:
    stale: list[int] = []
    with _charging() as called:
        once = _taken_over(called)

        def check(*outcomes: Any) -> None:
            stale.append(_counted("stale_commits"))
            # The holder itself may be the next one: what it did under the lost lease is gone.
            assert len(rows("SELECT key FROM interleaving_ledger")) == 1
            once.check(*outcomes)

        pair = Pair(prepare=once.prepare, actors=once.actors, check=check)
        explorer.interrupted(pair, "leases.end")
        explorer.interrupted(pair, "queue.finish")
        explorer.interrupted(pair, "effects.call")
    assert stale == [1, 1, 1]


def test_a_lease_that_is_stolen_from_a_busy_holder_lets_the_message_run_once(
    explore: Explore,
) -> None:
    def steal(_state: None) -> Done | None:
        found = rows("SELECT session, fence FROM comboio_lease")
        if not found:
            return None
        ((session, fence),) = found
        return sessions.steal(ANNA, session, seen=fence, reason="the host is lost")

    with _charging() as called:
        once = _check_once(called)

        def check(_state: None, _moved: int, stolen: Any) -> None:
            is_stolen = isinstance(stolen, Done)
            assert is_stolen or stolen is None or isinstance(stolen, RefusedError)
            assert audited() == ([("steal", "anna")] if is_stolen else [])
            assert _counted("stale_commits") == int(is_stolen)
            assert len(booked()) == int(_counted("processed", "done") > 0)
            once()

        explore(Pair(prepare=_send(called), actors=(_work, steal), check=check))


def _abandoned(called: list[str]) -> Callable[[], int]:
    """The lease of a worker that died; its fence."""

    def prepare() -> int:
        _send(called)()
        return factory_effects.lease(int(one("SELECT id FROM comboio_message")))

    return prepare


def test_of_two_that_take_over_one_gets_the_session(explore: Explore) -> None:
    with _charging() as called:
        once = _check_once(called)

        def prepare() -> int:
            fence = _abandoned(called)()
            _expire()
            return fence

        def check(_fence: int, *moved: int) -> None:
            assert sorted(moved) == [0, 1] or sum(moved) == 0
            assert _counted("leases", "taken over") == sum(moved)
            assert len(called) == sum(moved)
            assert len(booked()) == sum(moved)
            once()

        explore(Pair(prepare=prepare, actors=(_work, _work), check=check))


def test_a_lease_is_either_renewed_or_taken_over(explore: Explore) -> None:
    def renew(fence: int) -> bool:
        with connections.connect(autocommit=True).transaction():
            cursor = connections.connect(autocommit=True).cursor()
            return bool(leases.renew(cursor, [(fence, 30.0)]))

    with _charging() as called:
        once = _check_once(called)

        def check(fence: int, is_renewed: bool, moved: int, _expired: None) -> None:
            held = rows("SELECT fence FROM comboio_lease WHERE expires_at > clock_timestamp()")
            assert len(booked()) == moved
            assert held in ([], [(fence,)])
            assert not (held and moved)
            if held:
                assert is_renewed
            once()

        explore(Pair(prepare=_abandoned(called), actors=(renew, _work, _expire), check=check))
