"""A purge and a delivery that needs what it forgets, in every order of their round trips."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from monitor.domain.states import Verdict
from monitor.engine import ingest
from monitor.maintenance import retention
from monitor.maintenance.retention import Purge
from tests.engine import consuming, delivery, send
from tests.interleaving.explorer import Explored, Pair
from tests.interleaving.world import book, booked, owner, settle
from tests.monitor.maintenance.aged import age
from tests.rows import one, rows

Explore = Callable[..., Explored]

PURGES = {each.name: each for each in retention.PURGES}


def _purge(purge: Purge) -> int:
    purge.again()
    return purge.run()


def _used_up() -> None:
    """A message that was done and purged long ago; its key and session may go now."""
    send(delivery("k", session="s"))
    settle()
    age(8)
    _purge(PURGES["purge done messages"])
    age(8)


def test_a_copy_that_meets_the_purge_of_its_key_is_a_duplicate_or_runs_once_more(
    explore: Explore,
) -> None:
    def check(_state: None, purged: int, receipts: Any) -> None:
        ((receipt,),) = receipts
        is_new = receipt.verdict is Verdict.NEW
        assert purged + one("SELECT count(*) FROM comboio_dedup") == 1 + is_new
        assert one("SELECT count(*) FROM comboio_duplicate") == (not is_new and not purged)
        settle()
        assert booked() == ["k"] * (1 + is_new)

    with consuming(book):
        owner()
        explored = explore(
            Pair(
                prepare=_used_up,
                actors=(
                    lambda _: _purge(PURGES["purge keys"]),
                    lambda _: ingest.receive([delivery("k", session="s")]),
                ),
                check=check,
            )
        )
    assert explored.schedules > 2


def test_a_message_that_meets_the_purge_of_its_session_has_one(explore: Explore) -> None:
    def check(_state: None, _purged: int, _receipts: Any) -> None:
        named = rows(
            "SELECT s.key FROM comboio_message m LEFT JOIN comboio_session s ON s.id = m.session"
        )
        assert named == [("s",)]
        settle()
        assert booked() == ["k", "l"]

    with consuming(book):
        owner()
        explored = explore(
            Pair(
                prepare=_used_up,
                actors=(
                    lambda _: _purge(PURGES["purge sessions"]),
                    lambda _: ingest.receive([delivery("l", session="s")]),
                ),
                check=check,
            )
        )
    assert explored.schedules > 2
