"""Two deliveries, or a delivery and a worker, in every order of their round trips."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from monitor.domain.message import Delivery
from monitor.domain.states import Verdict
from monitor.engine import ingest
from tests.engine import consuming, delivery, send
from tests.interleaving.explorer import Explored, Pair
from tests.interleaving.world import book, booked, owner, settle, states, work
from tests.rows import one, rows

Explore = Callable[..., Explored]


def _receive(deliveries: list[Delivery]) -> Any:
    return ingest.receive(deliveries)


def _verdicts(*outcomes: Any) -> list[Verdict]:
    return [receipt.verdict for outcome in outcomes for (receipt,) in outcome]


def test_of_twin_deliveries_one_is_new_and_runs_once(explore: Explore) -> None:
    def check(_twin: object, *outcomes: Any) -> None:
        assert sorted(_verdicts(*outcomes)) == [Verdict.DUPLICATE, Verdict.NEW]
        assert one("SELECT duplicates FROM comboio_dedup") == 1
        assert rows("SELECT n FROM comboio_duplicate") == [(1,)]
        settle()
        assert booked() == ["k"]

    with consuming(book):
        owner()
        explored = explore(
            Pair(
                prepare=lambda: [delivery("k", session="s")],
                actors=(_receive, _receive),
                check=check,
            )
        )
    assert explored.schedules > 2


def test_the_same_key_with_another_payload_is_set_aside_whoever_comes_first(
    explore: Explore,
) -> None:
    first, second = delivery("k", {"n": 1}, session="s"), delivery("k", {"n": 2}, session="s")

    def check(_state: None, *outcomes: Any) -> None:
        verdicts = _verdicts(*outcomes)
        assert sorted(verdicts) == [Verdict.MISMATCH, Verdict.NEW]
        stored = [first, second][verdicts.index(Verdict.NEW)]
        other = [first, second][verdicts.index(Verdict.MISMATCH)]
        assert rows("SELECT payload FROM comboio_message") == [(stored.payload,)]
        assert rows("SELECT payload, count FROM comboio_mismatch") == [(other.payload, 1)]
        assert rows("SELECT kind, state FROM comboio_alert") == [("mismatch", "open")]
        settle()
        assert booked() == ["k"]

    with consuming(book):
        owner()
        explore(
            Pair(
                prepare=lambda: None,
                actors=(lambda _: _receive([first]), lambda _: _receive([second])),
                check=check,
            )
        )


def test_batches_with_keys_and_sessions_in_opposite_order_do_not_deadlock(
    explore: Explore,
) -> None:
    """A third delivery, not yet committed, makes both batches wait in the middle of their rows."""
    batch = [delivery(f"k{n}", session=f"s{n}") for n in range(3)]

    def check(_state: None, *outcomes: Any) -> None:
        assert sorted(_verdicts(*outcomes)) == [Verdict.DUPLICATE] * 4 + [Verdict.NEW] * 3
        assert states()["ready"] == 3

    def beside(single: Delivery) -> Pair[None]:
        return Pair(
            prepare=lambda: None,
            actors=(
                lambda _: _receive(batch),
                lambda _: _receive(batch[::-1]),
                lambda _: _receive([single]),
            ),
            check=check,
        )

    with consuming(book):
        owner()
        for single in batch:
            explore(beside(single))


def test_mismatches_in_opposite_order_do_not_deadlock(explore: Explore) -> None:
    """Each batch takes rows of dedup, of mismatches and of alerts: always in the same order."""
    keys = ("k1", "k2")

    def prepare() -> list[Delivery]:
        send(*[delivery(key, {"n": 0}, session=key) for key in keys])
        return [delivery(key, {"n": 1}, session=key) for key in keys]

    def check(_state: object, *outcomes: Any) -> None:
        assert _verdicts(*outcomes) == [Verdict.MISMATCH] * 4
        assert rows("SELECT count FROM comboio_mismatch") == [(2,), (2,)]
        assert rows("SELECT count FROM comboio_alert") == [(2,), (2,)]

    with consuming(book):
        owner()
        explore(
            Pair(
                prepare=prepare,
                actors=(_receive, lambda both: _receive(both[::-1])),
                check=check,
            )
        )


def test_a_duplicate_that_meets_the_worker_of_its_first_changes_nothing(explore: Explore) -> None:
    def prepare() -> Delivery:
        send(delivery("k", session="s"))
        return delivery("k", session="s")

    def check(_twin: object, received: Any, _worked: Any) -> None:
        assert _verdicts(received) == [Verdict.DUPLICATE]
        settle()
        assert booked() == ["k"]
        assert states()["done"] == 1

    with consuming(book):
        owner()
        explore(
            Pair(
                prepare=prepare,
                actors=(lambda twin: _receive([twin]), lambda _: work()),
                check=check,
            )
        )


def test_a_follower_that_meets_the_worker_of_its_head_runs_after_it(explore: Explore) -> None:
    def prepare() -> None:
        send(delivery("k1", session="s"))

    def check(_state: None, received: Any, _worked: Any) -> None:
        assert _verdicts(received) == [Verdict.NEW]
        settle()
        assert booked() == ["k1", "k2"]

    with consuming(book):
        owner()
        explore(
            Pair(
                prepare=prepare,
                actors=(lambda _: _receive([delivery("k2", session="s")]), lambda _: work()),
                check=check,
            )
        )
