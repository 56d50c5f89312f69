"""A click counts once: the same verb that comes again with its key does nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from monitor.domain.actor import SYSTEM
from monitor.domain.errors import DeadLetter, RefusedError, RepeatedClickError
from monitor.operations import messages, sessions
from tests.engine import consuming, delivery, drain_all, send
from tests.racing import race
from tests.rows import one, rows

pytestmark = pytest.mark.django_db(transaction=True)


def dies(_payload: Any, _message: Any) -> None:
    raise DeadLetter("always")


def test_the_same_click_twice_at_once_is_carried_out_once() -> None:
    with consuming(dies):
        send(delivery("a", session="s"))
        session = int(one("SELECT id FROM comboio_session"))
        actor = replace(SYSTEM, click=uuid4())
        answers = race(*[lambda: sessions.hold(actor, session, reason="x") for _ in range(4)])
    assert sorted(type(each).__name__ for each in answers) == ["Done"] + ["RepeatedClickError"] * 3
    assert one("SELECT count(*) FROM comboio_audit") == 1


def test_a_click_on_what_came_back_meanwhile_does_not_act_again() -> None:
    with consuming(dies):
        send(delivery("a", session="s"))
        drain_all()
        ((id_, version),) = rows("SELECT id, version FROM comboio_dead")
        actor = replace(SYSTEM, click=uuid4())
        messages.requeue(actor, id_, seen=version)
        drain_all()
        ((_, again),) = rows("SELECT id, version FROM comboio_dead")
        with pytest.raises(RepeatedClickError):
            messages.requeue(actor, id_, seen=again)
    assert one("SELECT count(*) FROM comboio_dead") == 1


def test_a_click_that_was_refused_may_be_tried_again() -> None:
    with consuming(dies):
        send(delivery("a", session="s"))
        drain_all()
        ((id_, version),) = rows("SELECT id, version FROM comboio_dead")
        actor = replace(SYSTEM, click=uuid4())
        with pytest.raises(RefusedError):
            messages.requeue(actor, id_, seen=version + 1)
        assert messages.requeue(actor, id_, seen=version).count == 1
