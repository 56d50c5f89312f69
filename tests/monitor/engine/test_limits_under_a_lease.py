"""Under a lease a handler has no time limit, but every statement of the engine has one."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group

from monitor.domain.effect import Call, Effect
from monitor.engine.drain import drain
from monitor.engine.life import Life
from tests.engine import delivery, send
from tests.outside import charging

pytestmark = pytest.mark.django_db(transaction=True)


def test_statements_round_a_call_have_a_limit_and_the_call_itself_has_none() -> None:
    now: list[tuple[float, int]] = [(0.0, 0)]
    at_commits: list[tuple[float, int]] = []
    during: dict[str, tuple[float, int]] = {}

    def note(_message: int, limit: float, fence: int, _lease: float) -> None:
        now[0] = (limit, fence)
        if limit and fence:
            at_commits.append(now[0])

    def provider(_call: Call) -> Any:
        during["call"] = now[0]
        return {"charge": 1}

    def charge(_payload: Any, message: Any) -> None:
        during["before"] = now[0]
        message.effect("charge", {})
        during["after"] = now[0]
        with message.transaction():
            Group.objects.create(name=f"charged/{message.key}")

    life = Life("test", note=note)
    with charging(Effect(name="charge", call=provider), charge):
        send(delivery("a"))
        drain(life, 20)
        life.end()
    assert {limit for limit, _ in during.values()} == {0.0}
    assert len({fence for _, fence in during.values()}) == 1
    assert len(at_commits) >= 3, "recorded, called, answered"
    assert now[0][1] == 0
