from __future__ import annotations

import json
from collections import Counter
from itertools import islice, pairwise
from random import Random

from examples.demo import feed
from examples.demo.plan import CHARGE, Fate, Planned, Role, Shape
from tests.examples.demo.plans import HOOKS


def _traffic(number: int) -> list[Planned]:
    return list(islice(feed.traffic(Random(1), HOOKS, run="live"), number))


def test_the_first_minute_shows_something_on_every_screen() -> None:
    deliveries = _traffic(60 * feed.PER_SECOND)
    roles = Counter(each.role for each in deliveries)
    fates = Counter(r.fate for each in deliveries if each.role is Role.FIRST for r in each.routes)
    assert roles[Role.COPY] > 50
    assert roles[Role.CHANGED] >= 3
    assert roles[Role.REFUSED] >= 1
    assert fates[Fate.DEAD] >= 3
    assert fates[Fate.HOLDING] >= 1
    assert fates[Fate.PARKED] >= 3
    assert {each.source for each in deliveries} == {"payments", "github"}


def test_faults_become_rarer_so_that_a_demo_left_alone_does_not_fill_up() -> None:
    deliveries = _traffic(20_000)
    early, late = deliveries[:2_000], deliveries[-2_000:]

    def faults(part: list[Planned]) -> int:
        return sum(
            each.role is Role.CHANGED or any(route.fate is Fate.DEAD for route in each.routes)
            for each in part
        )

    assert faults(late) < faults(early) / 2


def test_every_first_has_a_key_of_its_own() -> None:
    keys = [each.key for each in _traffic(5_000) if each.role is Role.FIRST]
    assert len(keys) == len(set(keys))


def test_a_copy_comes_behind_its_first() -> None:
    seen: dict[str, str] = {}
    for each in _traffic(5_000):
        if each.role is Role.FIRST:
            seen[each.key] = each.body
        elif each.role is Role.COPY:
            assert seen[each.key] == each.body


def test_what_leaves_together_is_a_first_and_its_copy() -> None:
    deliveries = _traffic(5_000)
    for before, each in pairwise(deliveries):
        if each.shape is Shape.TOGETHER:
            assert (before.key, before.role) == (each.key, Role.FIRST)


def test_charges_flow_where_a_provider_is_and_soon_one_of_each_unknown_kind() -> None:
    traffic = feed.traffic(Random(1), HOOKS, run="live", has_charges=True)
    charges = [each for each in islice(traffic, 120 * feed.PER_SECOND) if each.type == CHARGE]
    faults = [(json.loads(e.body)["by"], json.loads(e.body)["pretend"]) for e in charges]
    assert ("card", "closed") in faults
    assert ("voucher", "drop") in faults
    assert faults.count(("bank", "none")) > 3
    assert not any(each.type == CHARGE for each in _traffic(120 * feed.PER_SECOND))
