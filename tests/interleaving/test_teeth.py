"""The scheduler itself: it sees what is broken, knows who waits, and repeats a schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from tests.interleaving.explorer import Explored, Pair
from tests.interleaving.world import booked
from tests.rows import one, rows, run

Explore = Callable[..., Explored]

_FIND = "SELECT count(*) FROM interleaving_ledger WHERE key = 'k'"
_INSERT = "INSERT INTO interleaving_ledger (key) VALUES ('k')"


def _check_then_insert(_state: None) -> None:
    with transaction.atomic():
        if one(_FIND) == 0:
            run(_INSERT)


def _nothing() -> None:
    """No stage to set."""


def _once(_state: None, *_outcomes: Any) -> None:
    assert booked() == ["k"]


def _lock(*rows_: int) -> Callable[[None], None]:
    def locks(_state: None) -> None:
        with transaction.atomic():
            for lane in rows_:
                rows("SELECT lane FROM comboio_lane WHERE lane = %(lane)s FOR UPDATE", lane=lane)

    return locks


def test_a_check_before_an_insert_is_found_double(explore: Explore) -> None:
    twin = Pair(prepare=_nothing, actors=(_check_then_insert, _check_then_insert), check=_once)
    with pytest.raises(AssertionError, match=r"schedule [AB]+\n[AB]  SELECT count"):
        explore(twin)


def test_only_the_serial_schedules_keep_a_check_before_an_insert_from_doubling(
    explore: Explore,
) -> None:
    seen: list[int] = []
    twin = Pair(
        prepare=_nothing,
        actors=(_check_then_insert, _check_then_insert),
        check=lambda *_: seen.append(len(booked())),
    )
    explored = explore(twin, at_most=100)
    assert explored.is_all
    assert sorted(seen) == [1] * 2 + [2] * (explored.schedules - 2)


def test_a_schedule_is_run_again_by_its_letters(
    explore: Explore, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = Pair(prepare=_nothing, actors=(_check_then_insert, _check_then_insert), check=_once)
    monkeypatch.setenv("INTERLEAVING", "ABABAB")
    with pytest.raises(AssertionError, match="schedule ABABAB\n"):
        explore(twin)
    monkeypatch.setenv("INTERLEAVING", "AAABB")
    explore(twin)


def test_who_waits_for_a_lock_is_not_let_go_before_it_has_it(explore: Explore) -> None:
    pair = Pair(prepare=_nothing, actors=(_lock(1), _lock(1)), check=lambda *_: None)
    explored = explore(pair, at_most=100)
    # AABB and ABAB (B waits until A commits), and the same the other way round.
    assert explored.is_all
    assert explored.schedules == 4


def test_locks_in_opposite_order_are_told_as_a_deadlock(explore: Explore) -> None:
    pair = Pair(prepare=_nothing, actors=(_lock(1, 2), _lock(2, 1)), check=lambda *_: None)
    with pytest.raises(AssertionError, match=r"every actor waits for another: A in .*, B in "):
        explore(pair)


def test_each_actor_has_a_connection_of_its_own(explore: Explore) -> None:
    def pid(_state: None) -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return int(cursor.fetchone()[0])

    def check(_state: None, first: int, second: int) -> None:
        assert len({first, second, one("SELECT pg_backend_pid()")}) == 3

    explore(Pair(prepare=_nothing, actors=(pid, pid), check=check))
