"""Hold and resume, of sessions and of whole consumers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from monitor.domain.errors import RefusedError
from monitor.operations import consumers, sessions
from monitor.store import connections
from tests import factories
from tests.engine import consuming, delivery, drain_all, send
from tests.monitor.operations.scenes import version
from tests.people import ANNA, BERT
from tests.rows import one, rows, run


def _session(number: int) -> int:
    return int(one("SELECT session FROM comboio_message WHERE id = %(id)s", id=number))


def _resume(session: int) -> str:
    return sessions.resume(ANNA, session, seen=version("comboio_gate", session, "session")).text


@pytest.mark.django_db
def test_a_held_session_opens_an_alert_and_resume_closes_it() -> None:
    session = _session(factories.message(factories.consumer(), session="acct-1"))
    sessions.hold(ANNA, session, reason="the bank asked")
    assert rows("SELECT held, held_by, held_reason FROM comboio_gate") == [
        (True, "anna", "the bank asked")
    ]
    kind, title, target = rows("SELECT kind, title, target FROM comboio_alert")[0]
    assert (kind, target) == ("held session", session)
    assert "acct-1" in title
    assert "the bank asked" in title
    _resume(session)
    assert rows("SELECT * FROM comboio_gate") == []
    assert rows("SELECT state FROM comboio_alert") == [("resolved",)]


@pytest.mark.django_db
def test_a_hold_wipes_neither_retry_nor_attempts() -> None:
    number = factories.message(factories.consumer(), state="waiting")
    before = rows("SELECT retry_at, head, attempts FROM comboio_gate")
    sessions.hold(ANNA, _session(number), reason="")
    assert rows("SELECT retry_at, head, attempts FROM comboio_gate") == before
    _resume(_session(number))
    assert rows("SELECT retry_at, head, attempts FROM comboio_gate") == before


@pytest.mark.django_db
def test_resume_of_a_session_that_a_dead_head_holds_too_says_so_and_keeps_the_alert() -> None:
    number = factories.message(factories.consumer(when_dead="hold"), state="dead", holds=True)
    session = _session(number)
    sessions.hold(ANNA, session, reason="")
    assert f"dead message {number} still holds it" in _resume(session)
    assert rows("SELECT held, dead_message FROM comboio_gate") == [(False, number)]
    assert one("SELECT state FROM comboio_alert WHERE kind = 'held session'") == "open"


@pytest.mark.django_db
def test_resume_of_a_session_that_only_a_dead_head_holds_says_what_to_do() -> None:
    number = factories.message(factories.consumer(when_dead="hold"), state="dead", holds=True)
    with pytest.raises(RefusedError, match=f"held by dead message {number}: requeue or discard"):
        _resume(_session(number))


@pytest.mark.django_db
def test_a_gate_that_changed_since_the_page_was_made_is_not_resumed() -> None:
    session = _session(factories.message(factories.consumer()))
    sessions.hold(ANNA, session, reason="first")
    seen = version("comboio_gate", session, "session")
    _resume(session)
    sessions.hold(BERT, session, reason="another")
    with pytest.raises(RefusedError, match="held by bert"):
        sessions.resume(ANNA, session, seen=seen)


@pytest.mark.django_db
def test_an_unknown_session_or_consumer_is_refused() -> None:
    with pytest.raises(RefusedError, match="no session 4711"):
        sessions.hold(ANNA, 4711, reason="")
    for number in (0, 4711, 99_999):
        with pytest.raises(RefusedError, match=f"no consumer {number}"):
            consumers.hold(ANNA, number, reason="")


@pytest.mark.django_db(transaction=True)
def test_nothing_of_a_held_session_runs_and_all_of_it_after_resume() -> None:
    ran: list[str] = []

    def note(_payload: object, message: object) -> None:
        ran.append(message.key)  # type: ignore[attr-defined]

    with consuming(note):
        send(delivery("a1", session="a"), delivery("b1", session="b"))
        session = one("SELECT session FROM comboio_message WHERE key = 'a1'")
        sessions.hold(ANNA, session, reason="")
        send(delivery("a2", session="a"))
        drain_all()
        assert ran == ["b1"]
        _resume(session)
        drain_all()
    assert ran == ["b1", "a1", "a2"]


@pytest.mark.django_db(transaction=True)
def test_nothing_of_a_held_consumer_runs_until_it_is_resumed() -> None:
    ran: list[str] = []

    def note(_payload: object, message: object) -> None:
        ran.append(message.key)  # type: ignore[attr-defined]

    with consuming(note):
        send(delivery("k"))
        number = one("SELECT consumer FROM comboio_message")
        consumers.hold(ANNA, number, reason="downstream is away")
        drain_all()
        assert ran == []
        consumers.resume(BERT, number, seen=version("comboio_consumer", number))
        drain_all()
    assert ran == ["k"]


@pytest.mark.django_db
def test_a_consumers_hold_may_end_by_itself_and_can_then_be_given_anew() -> None:
    number = factories.consumer()
    done = consumers.hold(ANNA, number, reason="", until=datetime.now(UTC) + timedelta(hours=1))
    assert "is held until" in done.text
    with pytest.raises(RefusedError, match="held by anna"):
        consumers.hold(BERT, number, reason="")
    run("UPDATE comboio_consumer SET held_until = now() - interval '1 s' WHERE held")
    consumers.hold(BERT, number, reason="")
    assert rows("SELECT held_by, held_until FROM comboio_consumer WHERE held") == [("bert", None)]


@pytest.mark.django_db
@pytest.mark.parametrize("until", [datetime(2020, 1, 1, tzinfo=UTC), datetime(2999, 1, 1)])
def test_a_hold_must_end_at_a_known_time_in_the_future(until: datetime) -> None:
    number = factories.consumer()
    with pytest.raises(RefusedError, match="ends in the future"):
        consumers.hold(ANNA, number, reason="", until=until)
    assert rows("SELECT 1 FROM comboio_consumer WHERE held") == []


@pytest.mark.django_db(transaction=True)
def test_hold_and_resume_of_a_consumer_wake_the_workers() -> None:
    number = factories.consumer()
    with connections.connect(autocommit=True) as listener:
        listener.execute("LISTEN comboio_ready")
        consumers.hold(ANNA, number, reason="")
        assert len(list(listener.notifies(timeout=5, stop_after=1))) == 1
        consumers.resume(ANNA, number, seen=version("comboio_consumer", number))
        assert len(list(listener.notifies(timeout=5, stop_after=1))) == 1
