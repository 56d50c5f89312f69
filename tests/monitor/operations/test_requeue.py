"""Requeue: a dead message runs again at its place, once."""

from __future__ import annotations

import pytest

from monitor.domain.errors import RefusedError
from monitor.operations import messages
from monitor.store import connections
from tests import factories
from tests.engine import consuming, delivery, drain_all, send
from tests.monitor.operations.scenes import version
from tests.people import ANNA, BERT, CLARA
from tests.rows import one, rows, run


def _requeue(number: int) -> str:
    return messages.requeue(ANNA, number, seen=version("comboio_dead", number)).text


@pytest.mark.django_db
def test_it_goes_back_under_its_own_id_to_its_own_session() -> None:
    number = factories.message(factories.consumer(), state="dead")
    place = rows("SELECT lane, session, id FROM comboio_message")
    assert _requeue(number) == f"Message {number} is ready again."
    assert rows("SELECT lane, session, id FROM comboio_ready") == place
    assert rows("SELECT id FROM comboio_dead") == []


@pytest.mark.django_db
def test_a_session_that_it_held_is_open_and_its_alerts_are_closed() -> None:
    number = factories.message(factories.consumer(when_dead="hold"), state="dead", holds=True)
    _requeue(number)
    assert rows("SELECT * FROM comboio_gate") == []
    assert rows("SELECT kind, state FROM comboio_alert ORDER BY kind") == [
        ("dead letter", "resolved"),
        ("held session", "resolved"),
    ]


@pytest.mark.django_db
def test_the_alert_stays_and_points_to_another_that_is_still_dead_of_its_cause() -> None:
    owner = factories.consumer()
    first, second = [factories.message(owner, state="dead", session=s) for s in ("a", "b")]
    _requeue(second)
    assert rows("SELECT state, target FROM comboio_alert") == [("open", first)]


@pytest.mark.django_db
def test_an_operators_hold_stays_and_is_told() -> None:
    number = factories.message(factories.consumer(when_dead="hold"), state="dead", holds=True)
    run("UPDATE comboio_gate SET held = true, held_by = 'bert'")
    assert "held by bert" in _requeue(number)
    assert rows("SELECT held, dead_message FROM comboio_gate") == [(True, None)]
    assert rows("SELECT state FROM comboio_alert WHERE kind = 'held session'") == [("open",)]


@pytest.mark.django_db
def test_another_heads_retry_stays() -> None:
    owner = factories.consumer()
    dead = factories.message(owner, state="dead")
    follower = factories.message(owner, state="waiting")
    _requeue(dead)
    assert rows("SELECT head, attempts FROM comboio_gate") == [(follower, 1)]


@pytest.mark.django_db
def test_a_message_behind_followers_that_are_done_is_marked_late() -> None:
    owner = factories.consumer()
    number = factories.message(owner, state="dead")
    factories.message(owner, state="done")
    assert "runs late" in _requeue(number)
    assert one("SELECT detail ->> 'late' FROM comboio_event") == "true"


@pytest.mark.django_db
def test_a_message_without_session_goes_back_too() -> None:
    number = factories.message(factories.consumer(), state="dead", session="")
    _requeue(number)
    assert rows("SELECT id, session FROM comboio_ready") == [(number, -number)]


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["ready", "done", "discarded"])
def test_a_message_that_is_not_dead_is_refused_and_its_state_is_told(state: str) -> None:
    number = factories.message(factories.consumer(), state=state)
    with pytest.raises(RefusedError, match=f"Message {number} is {state} now"):
        messages.requeue(ANNA, number, seen=1)


@pytest.mark.django_db
def test_an_unknown_message_is_refused() -> None:
    with pytest.raises(RefusedError, match="no message 4711"):
        messages.requeue(ANNA, 4711, seen=1)


@pytest.mark.django_db
def test_one_that_died_again_since_it_was_seen_is_refused() -> None:
    number = factories.message(factories.consumer(), state="dead")
    seen = version("comboio_dead", number)
    messages.requeue(BERT, number, seen=seen)
    run("DELETE FROM comboio_ready")
    factories.bury(number, reason="poison", error="ValueError: again")
    with pytest.raises(RefusedError, match=r"requeued by bert at .* and is dead again"):
        messages.requeue(ANNA, number, seen=seen)


@pytest.mark.django_db(transaction=True)
def test_it_wakes_the_workers_only_when_it_committed() -> None:
    number = factories.message(factories.consumer(), state="dead")
    with connections.connect(autocommit=True) as listener:
        listener.execute("LISTEN comboio_ready")
        _requeue(number)
        assert [note.channel for note in listener.notifies(timeout=5, stop_after=1)] == [
            "comboio_ready"
        ]


@pytest.mark.django_db(transaction=True)
def test_its_attempts_start_anew_and_the_history_stays() -> None:
    def fail(_payload: object, _message: object) -> None:
        raise ConnectionError("not yet")

    with consuming(fail):
        send(delivery("k", session="s"))
        _drain_until_dead()
        _requeue(one("SELECT id FROM comboio_dead"))
        _drain_until_dead()
    told = rows("SELECT kind, attempt FROM comboio_event ORDER BY id")
    assert [attempt for _, attempt in told] == [1, 2, 3, None, 1, 2, 3]
    assert told[3][0] == "requeue"


@pytest.mark.django_db(transaction=True)
def test_a_dead_head_runs_before_the_followers_that_it_held() -> None:
    ran: list[str] = []
    is_mended = False

    def handle(_payload: object, message: object) -> None:
        if message.key == "k1" and not is_mended:  # type: ignore[attr-defined]
            raise ValueError("poison")
        ran.append(message.key)  # type: ignore[attr-defined]

    with consuming(handle, when_dead="hold"):
        send(*(delivery(f"k{n}", session="s") for n in (1, 2, 3)))
        _drain_until_dead()
        assert ran == []
        is_mended = True
        _requeue(one("SELECT id FROM comboio_dead"))
        drain_all()
    assert ran == ["k1", "k2", "k3"]


@pytest.mark.django_db(transaction=True)
def test_a_discarded_head_lets_its_followers_go_on() -> None:
    ran: list[str] = []

    def handle(_payload: object, message: object) -> None:
        if message.key == "k1":  # type: ignore[attr-defined]
            raise ValueError("poison")
        ran.append(message.key)  # type: ignore[attr-defined]

    with consuming(handle, when_dead="hold"):
        send(*(delivery(f"k{n}", session="s") for n in (1, 2)))
        _drain_until_dead()
        number = one("SELECT id FROM comboio_dead")
        messages.discard(CLARA, number, seen=version("comboio_dead", number))
        drain_all()
    assert ran == ["k2"]


def _drain_until_dead() -> None:
    for _ in range(20):
        drain_all()
        if one("SELECT count(*) FROM comboio_dead"):
            return
    raise AssertionError("nothing died")
