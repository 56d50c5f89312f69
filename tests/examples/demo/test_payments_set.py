from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from random import Random

from examples.demo import payments_set
from examples.demo.plan import Fate, Planned, Role, Shape
from examples.payments import consumers
from monitor.engine import registry


def _set(seed: int = 1, **options: object) -> list[Planned]:
    return payments_set.payments(Random(seed), run="t", **options)  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_set() -> None:
    assert _set(7, count=500) == _set(7, count=500)


def test_another_seed_gives_another_set() -> None:
    assert _set(7, count=500) != _set(8, count=500)


def test_a_quarter_is_sent_again_in_three_shapes() -> None:
    deliveries = _set()
    roles = Counter(each.role for each in deliveries)
    shapes = Counter(each.shape for each in deliveries if each.role is Role.COPY)
    assert roles[Role.FIRST] == 5_000
    assert roles[Role.COPY] == 1_250
    assert sorted(shapes.values()) == [416, 417, 417]


def test_a_copy_is_equal_to_its_first_and_comes_behind_it() -> None:
    seen: dict[str, Planned] = {}
    for each in _set():
        if each.role is Role.FIRST:
            assert each.key not in seen
            seen[each.key] = each
        elif each.role is Role.COPY:
            assert each.body == seen[each.key].body


def test_a_copy_of_the_same_moment_directly_follows_its_first() -> None:
    deliveries = _set()
    for before, each in itertools.pairwise(deliveries):
        if each.shape is Shape.TOGETHER:
            assert (before.role, before.key) == (Role.FIRST, each.key)


def test_late_copies_come_at_the_end() -> None:
    shapes = [each.shape for each in _set()]
    first_late = shapes.index(Shape.LATE)
    assert set(shapes[first_late:]) == {Shape.LATE}


def test_a_changed_payment_keeps_its_key_and_comes_behind_its_first() -> None:
    firsts: dict[str, Planned] = {}
    changed = 0
    for each in _set():
        if each.role is Role.FIRST:
            firsts[each.key] = each
        elif each.role is Role.CHANGED:
            changed += 1
            assert json.loads(each.body)["id"] == each.key
            assert each.body != firsts[each.key].body
    assert changed == 25


def test_sequence_numbers_of_an_account_start_at_one_without_gap() -> None:
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for each in _set():
        if each.role is Role.FIRST:
            body = json.loads(each.body)
            numbers[body["account"]].append(body["sequence"])
    assert len(numbers) > 190
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())


def test_behind_a_payout_that_holds_its_account_everything_is_parked() -> None:
    fates: defaultdict[str, list[Fate]] = defaultdict(list)
    for each in _set():
        if each.role is Role.FIRST and each.type == "payout":
            fates[each.routes[0].session].append(each.routes[0].fate)
    held = [found for found in fates.values() if Fate.HOLDING in found]
    assert len(held) == 4
    for found in held:
        place = found.index(Fate.HOLDING)
        assert set(found[:place]) == {Fate.DONE}
        assert set(found[place + 1 :]) == {Fate.PARKED}


def test_each_fault_is_there_as_often_as_asked() -> None:
    faults = payments_set.Faults(not_a_number=3, of_nothing=2, always_failing=1)
    causes = Counter(
        route.cause
        for each in _set(faults=faults)
        if each.role is Role.FIRST
        for route in each.routes
        if route.fate is Fate.DEAD
    )
    assert causes == {"not a number": 3, "of nothing": 2, "always failing": 1}


def test_a_transient_failure_succeeds_before_the_limit_of_attempts() -> None:
    times = {
        json.loads(each.body)["fail_times"]
        for each in _set()
        if each.role is Role.FIRST
        and "fail_times" in json.loads(each.body)
        and each.routes[0].fate is Fate.DONE
    }
    assert times == {1, 2, 3}
    assert max(times) < consumers.SHORT_WAITS.limit


def test_the_planned_consumers_are_those_that_take_the_type() -> None:
    for each in _set():
        if each.role is Role.FIRST:
            takers = [taker.name for taker in registry.takers("payments", each.type)]
            assert [route.consumer for route in each.routes] == takers
