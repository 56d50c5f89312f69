"""A call that is denied says nothing about an earlier one that got no answer."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.domain.effect import Call, EffectRefused, NotDone
from monitor.domain.errors import ComboioError
from monitor.domain.retry import Retry
from monitor.domain.states import State
from monitor.testing import Inbox
from tests.charging import charging

TWICE = Retry(limit=2, base_seconds=0.001, cap_seconds=0.001)


class Provider:
    """Acts and loses its answer, then denies for a while, then knows the key."""

    def __init__(self, *denials: ComboioError) -> None:
        self.calls: list[str] = []
        self._denials = list(denials)

    def __call__(self, call: Call) -> Any:
        self.calls.append(call.key)
        if len(self.calls) == 1:
            raise TimeoutError
        if self._denials:
            raise self._denials.pop(0)
        return {"charged": 1}


@pytest.mark.parametrize("denial", [NotDone("busy"), EffectRefused("the key has expired")])
def test_at_the_last_attempt_the_message_is_in_doubt_and_not_dead(
    inbox: Inbox, denial: ComboioError
) -> None:
    with charging("keyed", call=Provider(denial), retry=TWICE):
        inbox.deliver("test", {"cents": 5}, key="a", type="test")
        inbox.settle()
        assert inbox.state("a") == State.IN_DOUBT
        (effect,) = inbox.effects("a")
    assert effect.state == "in doubt"


def test_with_attempts_left_the_same_key_is_called_again(inbox: Inbox) -> None:
    provider = Provider(NotDone("busy"))
    with charging("keyed", call=provider, retry=Retry(limit=5, base_seconds=0.001)):
        inbox.deliver("test", {"cents": 5}, key="a", type="test")
        inbox.settle()
        assert inbox.state("a") == State.DONE
    assert len(provider.calls) == 3
    assert len(set(provider.calls)) == 1
