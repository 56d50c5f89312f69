from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from django.conf import settings

import examples.github.consumers  # noqa: F401 - declares the consumers
from examples.demo import github_set
from examples.demo.github_set import Webhook
from examples.demo.plan import Flaw, Planned, Role, Shape
from examples.demo.send import groups
from monitor.engine import registry
from tests import needs
from tests.examples.demo.plans import HOOKS, ISSUE, TEAM


@pytest.fixture(scope="module")
def real() -> list[Webhook]:
    """The real payloads."""
    try:
        return github_set.webhooks(settings.BASE_DIR / "node_modules")
    except FileNotFoundError:
        needs.missing("the npm package @octokit/webhooks-examples is not installed")


def _set(hooks: list[Webhook]) -> list[Planned]:
    return github_set.deliveries(Random(1), hooks, run="t")


def test_the_package_has_329_payloads_and_each_gets_a_key_of_its_own(real: list[Webhook]) -> None:
    firsts = [each for each in _set(real) if each.role is Role.FIRST]
    assert len(firsts) == 329
    assert len({each.key for each in firsts}) == 329


def test_the_planned_consumers_are_those_that_take_the_event(real: list[Webhook]) -> None:
    for each in _set(real):
        if each.role is Role.FIRST:
            takers = {taker.name for taker in registry.takers("github", each.type)}
            assert {route.consumer for route in each.routes} == takers


def test_a_quarter_is_sent_again_in_three_shapes(real: list[Webhook]) -> None:
    shapes = Counter(each.shape for each in _set(real) if each.role is Role.COPY)
    assert sorted(shapes.values()) == [27, 27, 28]


def test_only_a_first_and_its_copy_leave_together(real: list[Webhook]) -> None:
    for group in groups(_set(real)):
        assert len(group) == 1 or (
            [each.role for each in group] == [Role.FIRST, Role.COPY]
            and group[0].key == group[1].key
            and group[1].shape is Shape.TOGETHER
        )


def test_another_run_gives_the_same_bodies_other_keys() -> None:
    one = github_set.first(ISSUE, run="one", position=1)
    two = github_set.first(ISSUE, run="two", position=1)
    assert one.body == two.body
    assert one.key != two.key


def test_an_item_has_a_session_of_its_own_and_other_events_that_of_their_place() -> None:
    sessions = {
        (route.consumer, route.session)
        for hook in HOOKS
        for route in github_set.first(hook, run="t", position=1).routes
    }
    assert sessions == {
        ("github.activity", "octocat/hello"),
        ("github.activity", "octocats"),
        ("github.timeline", "octocat/hello#7"),
        ("github.triage", "octocat/hello#7"),
    }


def test_a_forged_delivery_is_meant_for_no_consumer() -> None:
    forged = github_set.forged(github_set.first(TEAM, run="t", position=1))
    assert forged.flaw is Flaw.SIGNATURE
    assert not forged.routes
