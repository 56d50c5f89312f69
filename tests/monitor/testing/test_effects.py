"""The harness and effects: who dies where, and what the provider remembers."""

from __future__ import annotations

import pytest

from monitor.domain.effect import EffectRefused, NotDone
from monitor.testing import Inbox
from tests.charging import LEASE_SECONDS, charged, charging


def test_the_provider_of_the_test_answers_and_its_answer_is_the_result(inbox: Inbox) -> None:
    provider = inbox.provider("charge", result=lambda call: {"cents": call.request["cents"]})
    with charging("keyed"):
        inbox.deliver("test", {"cents": 5}, key="a", times=3)
        inbox.run()
    (effect,) = inbox.effects("a")
    assert (effect.state, effect.calls, effect.result) == ("completed", 1, {"cents": 5})
    assert provider.ledger == [effect.external_key]
    assert inbox.result("a") == {"cents": 5}
    assert charged() == 1


@pytest.mark.parametrize("kind", ["keyed", "queryable"])
@pytest.mark.parametrize("point", ["before_effect", "after_effect", "before_commit"])
def test_a_worker_killed_anywhere_costs_nobody_a_second_charge(
    inbox: Inbox, kind: str, point: str
) -> None:
    provider = inbox.provider("charge")
    with charging(kind):
        inbox.deliver("test", {}, key="a")
        getattr(inbox, f"crash_{point}")()
        inbox.run()
        assert (inbox.deaths, inbox.state("a")) == (1, "running")  # its lease has not run out
        inbox.advance(seconds=LEASE_SECONDS)
        inbox.settle()
    assert (inbox.state("a"), len(provider.ledger), charged()) == ("done", 1, 1)
    assert len({call.key for call in provider.calls}) == 1


def test_a_provider_that_cannot_be_asked_leaves_the_charge_in_doubt(inbox: Inbox) -> None:
    provider = inbox.provider("charge")
    with charging("neither"):
        inbox.deliver("test", {}, key="a", session="s")
        inbox.deliver("test", {}, key="b", session="s")
        inbox.crash_after_effect("charge")
        inbox.settle()
        (effect,) = inbox.effects("a")
        assert (inbox.state("a"), effect.state) == ("in_doubt", "in doubt")
        assert (inbox.state("b"), len(provider.calls)) == ("ready", 1)


def test_a_lost_answer_is_asked_for_and_settled_by_the_clock(inbox: Inbox) -> None:
    provider = inbox.provider("charge")
    with charging("queryable"):
        inbox.deliver("test", {}, key="a")
        inbox.lose_answer("charge")
        inbox.settle()
    (effect,) = inbox.effects("a")
    assert (inbox.state("a"), effect.decided_by) == ("done", "probe")
    assert (len(provider.calls), provider.doubles()) == (1, 0)


def test_a_provider_fails_as_it_is_told(inbox: Inbox) -> None:
    provider = inbox.provider("charge")
    provider.fail(NotDone("503"), times=2)
    with charging("neither"):
        inbox.deliver("test", {}, key="a")
        inbox.settle()
        assert (inbox.state("a"), len(provider.calls), len(provider.ledger)) == ("done", 3, 1)
        provider.fail(EffectRefused("no such card"))
        inbox.deliver("test", {}, key="b")
        inbox.settle()
    (dead,) = inbox.dead("b")
    assert "no such card" in dead.error
