"""External consumers: a lease that a dead or stale holder cannot abuse."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from django.contrib.auth.models import Group

from monitor.domain.effect import Effect
from monitor.domain.errors import ConfigurationError, LeaseLostError
from monitor.store import queue
from tests.engine import consuming, delivery, drain_all, send
from tests.outside import Provider, charged, charging, drain_until_quiet, effect_state
from tests.rows import one, run

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_effect_inside_the_transaction_is_refused_in_words() -> None:
    def charge(_payload: Any, message: Any) -> None:
        with message.transaction():
            message.effect("charge", {})

    provider = Provider()
    with charging(Effect(name="charge", call=provider), charge):
        send(delivery("a"))
        drain_until_quiet()
    assert provider.calls == []
    assert "Make effects first" in one("SELECT error FROM comboio_dead")


def test_an_effect_of_an_atomic_consumer_is_refused_in_words() -> None:
    with consuming(lambda _payload, message: message.effect("charge", {})):
        send(delivery("a"))
        drain_until_quiet()
    assert "inside the transaction" in one("SELECT error FROM comboio_dead")


def test_a_handler_that_hides_an_unknown_outcome_is_not_done() -> None:
    def charge(_payload: Any, message: Any) -> None:
        with suppress(TimeoutError):
            message.effect("charge", {})
        with message.transaction():
            Group.objects.create(name=f"charged/{message.key}")

    provider = Provider(TimeoutError("no answer"))
    with charging(Effect(name="charge", call=provider), charge):
        send(delivery("a"))
        drain_all()
    assert charged() == 0
    assert effect_state()[0] == "in doubt"


def test_a_holder_that_lost_its_lease_can_neither_call_nor_commit() -> None:
    lost: list[type[BaseException]] = []

    def charge(_payload: Any, message: Any) -> None:
        run("UPDATE comboio_lease SET expires_at = now() - interval '1 second'")
        try:
            message.effect("charge", {})
        except LeaseLostError as error:
            lost.append(type(error))
        with message.transaction():
            Group.objects.create(name=f"charged/{message.key}")

    provider = Provider()
    with charging(Effect(name="charge", call=provider), charge):
        send(delivery("a"))
        drain_all(seconds=0.01)
    assert lost
    assert provider.calls == []
    assert charged() == 0
    assert one("SELECT sum(value) FROM comboio_rollup_delta WHERE name = 'stale_commits'") >= 1


def test_work_that_goes_on_later_keeps_what_it_wrote() -> None:
    def work(_payload: Any, message: Any) -> None:
        with message.transaction() as commit:
            Group.objects.create(
                name=f"charged/{message.key}-{one('SELECT count(*) FROM auth_group')}"
            )
            if charged() < 3:
                commit.again_after(0.0)

    with consuming(work, external=True):
        send(delivery("a"))
        drain_until_quiet()
    assert charged() == 3
    assert one("SELECT count(*) FROM comboio_done") == 1


@pytest.mark.parametrize("seconds", [0, -1, None])
def test_a_senseless_lease_refuses_to_start(seconds: Any) -> None:
    with pytest.raises(ConfigurationError, match="lease_seconds"):
        consuming(lambda _p, _m: None, external=True, lease_seconds=seconds).__enter__()


def test_a_message_that_was_finished_between_reading_and_leasing_does_not_run_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts: list[str] = []

    def work(_payload: Any, message: Any) -> None:
        starts.append(message.key)

    read = queue.read_open

    def read_then_lose(*arguments: Any) -> Any:
        keys = read(*arguments)
        run("DELETE FROM comboio_ready")  # as its holder does, at this very moment
        return keys

    with consuming(work, external=True):
        send(delivery("a"))
        monkeypatch.setattr(queue, "read_open", read_then_lose)
        drain_all()
    assert starts == []
    assert one("SELECT count(*) FROM comboio_lease") == 0
