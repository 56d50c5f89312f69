"""External consumers: a lease that a dead or stale holder cannot abuse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from time import monotonic
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import Error

from monitor.domain.effect import Effect
from monitor.domain.errors import ConfigurationError, DeadLetter, LeaseLostError
from monitor.engine import external
from monitor.engine.drain import drain
from monitor.engine.life import Life
from monitor.store import queue
from tests.engine import consuming, delivery, drain_all, send
from tests.outside import Provider, charged, charging, drain_until_quiet, effect_state
from tests.rows import one, rows, run
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def life() -> Iterator[Life]:
    """A worker process life."""
    made = Life("test")
    yield made
    made.end()


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
        drain_all()
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

    def read_then_lose(*arguments: Any, **named: Any) -> Any:
        keys = read(*arguments, **named)
        run("DELETE FROM comboio_ready")  # as its holder does, at this very moment
        return keys

    with consuming(work, external=True):
        send(delivery("a"))
        monkeypatch.setattr(queue, "read_open", read_then_lose)
        drain_all()
    assert starts == []
    assert one("SELECT count(*) FROM comboio_lease") == 0


def test_a_holder_that_fails_after_its_lease_was_lost_settles_nothing() -> None:
    def work(_payload: Any, _message: Any) -> None:
        run("DELETE FROM comboio_lease")
        run("DELETE FROM comboio_ready")  # its successor has finished meanwhile
        raise DeadLetter("too late")

    with consuming(work, external=True):
        send(delivery("a"))
        drain_all()
    assert one("SELECT count(*) FROM comboio_dead") == 0
    assert one("SELECT sum(value) FROM comboio_rollup_delta WHERE name = 'stale_commits'") == 1


_LEFT = (
    "SELECT starts, extract(epoch FROM expires_at - clock_timestamp())::float8 FROM comboio_lease"
)


def _cut() -> None:
    with suppress(Error):
        run("SELECT pg_terminate_backend(pg_backend_pid())")
    one("SELECT 1")


def _drain(life: Life) -> int:
    """As a worker does: what an error leaves is for the next drain."""
    with suppress(Error):
        return drain(life, 5)
    return 0


def test_a_lease_whose_grant_was_lost_on_the_way_is_given_back_at_once(
    monkeypatch: pytest.MonkeyPatch, life: Life
) -> None:
    call = external._call
    with consuming(lambda _p, _m: None, external=True):
        send(delivery("a"))
        monkeypatch.setattr(external, "_call", lambda _hands: _cut())
        _drain(life)
        assert rows(_LEFT)[0] > (1, 20)
        monkeypatch.setattr(external, "_call", call)
        assert _drain(life) == 1
    assert rows(_LEFT) == []
    taken = (
        "SELECT label, sum(value) FROM comboio_rollup_delta WHERE name = 'leases' GROUP BY label"
    )
    assert rows(taken) == [("taken", 2)]


def test_a_lease_given_back_twice_because_the_first_answer_was_lost_is_no_start_less(
    monkeypatch: pytest.MonkeyPatch, life: Life
) -> None:
    with consuming(lambda _p, _m: None, external=True):
        send(delivery("a"))
        with monkeypatch.context() as cut:
            cut.setattr(external, "_call", lambda _hands: _cut())
            _drain(life)
        left = life.leased
        for _time in range(2):
            life.holds(left)
            external.give_back(life)
        assert rows(_LEFT)[0][0] == 0
        assert _drain(life) == 1
    assert rows(_LEFT) == []


def test_a_handler_whose_connection_broke_runs_again_soon_and_not_after_its_lease(
    life: Life,
) -> None:
    starts: list[float] = []

    def work(_payload: Any, _message: Any) -> None:
        starts.append(monotonic())
        if len(starts) <= 2:
            _cut()

    with consuming(work, external=True):
        send(delivery("a"))
        wait_until(lambda: _drain(life) == 1, 10)
    first, second = starts[1] - starts[0], starts[2] - starts[1]
    assert 0.25 <= first < 1.0 <= second < 4.0


def test_a_handler_that_always_breaks_its_connection_is_soon_dead(
    monkeypatch: pytest.MonkeyPatch, life: Life
) -> None:
    monkeypatch.setattr(external, "_SECONDS_AFTER_CUTS", (0.01,))
    with consuming(lambda _p, _m: _cut(), external=True):
        send(delivery("a"))
        wait_until(lambda: _drain(life) == 1, 10)
    assert rows("SELECT reason FROM comboio_dead") == [("crashed worker",)]
