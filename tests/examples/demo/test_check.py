from __future__ import annotations

from dataclasses import replace

import pytest

from examples.demo import check, plan
from examples.demo.check import Seen
from examples.demo.effects import Effect
from examples.demo.plan import Fate, Plan
from tests.examples.demo import plans

FAULTS = ("lost", "doubles", "order_violations")


@pytest.fixture(scope="module")
def planned() -> Plan:
    """A small plan."""
    return plans.small(charges=60)


@pytest.fixture
def seen(planned: Plan) -> list[Seen]:
    """The messages of a faultless run."""
    return plans.faultless(planned)[0]


@pytest.fixture
def effects(planned: Plan) -> list[Effect]:
    """The effects of a faultless run."""
    return plans.faultless(planned)[1]


def _faults(planned: Plan, seen: list[Seen], effects: list[Effect]) -> tuple[int, ...]:
    figures = check.figures(planned, seen, effects)
    return tuple(figures[name] for name in FAULTS)


def test_a_faultless_run_gives_the_intended_figures(
    planned: Plan, seen: list[Seen], effects: list[Effect]
) -> None:
    figures = check.figures(planned, seen, effects)
    intended = plan.intended(planned)
    told_by_tables = set(figures) - {"duplicates", "mismatches", *FAULTS}
    assert {n: figures[n] for n in told_by_tables} == {n: intended[n] for n in told_by_tables}
    assert _faults(planned, seen, effects) == (0, 0, 0)


def test_a_planted_double_is_found(planned: Plan, seen: list[Seen], effects: list[Effect]) -> None:
    assert _faults(planned, seen, [*effects, effects[0]])[1] == 1


def test_a_lost_effect_is_found(planned: Plan, seen: list[Seen], effects: list[Effect]) -> None:
    assert _faults(planned, seen, effects[1:])[0] == 1


def test_a_message_that_vanished_altogether_is_lost(
    planned: Plan, seen: list[Seen], effects: list[Effect]
) -> None:
    place = next(n for n, each in enumerate(seen) if each.state == "parked")
    assert _faults(planned, seen[:place] + seen[place + 1 :], effects) == (1, 0, 0)


def test_a_message_that_still_waits_at_the_end_is_lost(
    planned: Plan, seen: list[Seen], effects: list[Effect]
) -> None:
    gone = effects.pop(0)
    place = next(
        n for n, each in enumerate(seen) if (each.consumer, each.key) == (gone.consumer, gone.key)
    )
    seen[place] = replace(seen[place], state="ready")
    assert _faults(planned, seen, effects)[0] == 1


def test_a_dead_message_is_not_lost(planned: Plan, seen: list[Seen], effects: list[Effect]) -> None:
    gone = effects.pop(0)
    place = next(
        n for n, each in enumerate(seen) if (each.consumer, each.key) == (gone.consumer, gone.key)
    )
    seen[place] = replace(seen[place], state="dead")
    assert _faults(planned, seen, effects) == (0, 0, 0)


def test_an_effect_of_a_dead_message_is_one_too_many(
    planned: Plan, seen: list[Seen], effects: list[Effect]
) -> None:
    key, route = next(each for each in planned.routes if each[1].fate is Fate.DEAD)
    extra = Effect(consumer=route.consumer, key=key, text=route.effect)
    assert _faults(planned, seen, [extra, *effects])[1] == 1


def test_the_amount_of_a_mismatch_in_the_ledger_is_a_lost_effect_and_one_too_many(
    planned: Plan, seen: list[Seen], effects: list[Effect]
) -> None:
    effects[0] = replace(effects[0], text=f"{effects[0].text}1")
    assert _faults(planned, seen, effects) == (1, 1, 0)


def test_two_swapped_bookings_of_an_account_are_found(
    planned: Plan, seen: list[Seen], effects: list[Effect]
) -> None:
    session_of = {(route.consumer, key): route.session for key, route in planned.routes}
    wanted = session_of[effects[0].consumer, effects[0].key]
    other = next(
        n
        for n, each in enumerate(effects[1:], start=1)
        if each.consumer == effects[0].consumer and session_of[each.consumer, each.key] == wanted
    )
    effects[0], effects[other] = effects[other], effects[0]
    lost, doubles, order_violations = _faults(planned, seen, effects)
    assert (lost, doubles) == (0, 0)
    assert order_violations >= 1


def test_accounts_may_run_side_by_side_in_any_order(
    planned: Plan, seen: list[Seen], effects: list[Effect]
) -> None:
    session_of = {(route.consumer, key): route.session for key, route in planned.routes}
    effects.sort(key=lambda each: session_of[each.consumer, each.key], reverse=True)
    assert _faults(planned, seen, effects) == (0, 0, 0)
