"""Chores of two clocks beside a worker: one at a time, and the figures stay true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from monitor.engine import ingest
from monitor.maintenance.chores import CHORES, Chore, run_once
from tests.engine import consuming, delivery, send
from tests.interleaving.explorer import Explored, Pair
from tests.interleaving.world import book, booked, owner, settle, states, work
from tests.rows import one

Explore = Callable[..., Explored]

_FOLD = next(each for each in CHORES if each.name == "fold counters")
_RECEIVED = (
    "SELECT (SELECT coalesce(sum(value), 0) FROM {0} WHERE name = 'received')"
    " + (SELECT coalesce(sum(value), 0) FROM comboio_rollup_delta WHERE name = 'received')"
)


def _two_messages() -> None:
    send(delivery("k0", session="s"))
    send(delivery("k1", session="s"))


def test_two_folds_and_a_delivery_count_every_message_once(explore: Explore) -> None:
    def check(_state: None, *_outcomes: Any) -> None:
        for kept in ("comboio_total", "comboio_rollup"):
            assert one(_RECEIVED.format(kept)) == 3
        run_once(_FOLD)
        for kept in ("comboio_total", "comboio_rollup"):
            assert one(f"SELECT sum(value) FROM {kept} WHERE name = 'received'") == 3
        assert one("SELECT count(*) FROM comboio_rollup_delta") == 0

    def fold(_state: None) -> int:
        return run_once(_FOLD)

    def deliver(_state: None) -> Any:
        return ingest.receive([delivery("k2", session="s")])

    with consuming(book):
        owner()
        explore(Pair(prepare=_two_messages, actors=(fold, fold, deliver), check=check))


def test_two_clocks_with_the_same_chore_disturb_no_worker(explore: Explore) -> None:
    def beside(chore: Chore) -> Pair[None]:
        def clock(_state: None) -> int:
            return run_once(chore)

        return Pair(
            prepare=_two_messages, actors=(clock, clock, lambda _: work()), check=_check_both
        )

    with consuming(book):
        owner()
        for chore in CHORES:
            explore(beside(chore), seconds=0.5)


def _check_both(_state: None, *_outcomes: Any) -> None:
    settle()
    assert booked() == ["k0", "k1"]
    assert states()["done"] == 2
