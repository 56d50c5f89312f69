"""Requeue of what nobody took: it is routed again, to consumers that exist now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.domain.errors import RefusedError
from monitor.operations import messages
from tests.engine import consuming, delivery, drain_all, send
from tests.monitor.operations.scenes import version
from tests.people import ANNA
from tests.rows import one, rows

pytestmark = pytest.mark.django_db(transaction=True)


def _ignore(_payload: object, _message: object) -> None:
    return None


def _requeue() -> str:
    number = one("SELECT min(id) FROM comboio_dead WHERE consumer = 0")
    return messages.requeue(ANNA, number, seen=version("comboio_dead", number)).text


def test_it_stays_dead_while_nobody_takes_it() -> None:
    send(delivery("k"))
    with pytest.raises(RefusedError, match="stays dead: no consumer takes the type “test”"):
        _requeue()
    assert one("SELECT count(*) FROM comboio_dead") == 1


def test_it_goes_to_every_consumer_that_takes_it_now_as_it_came_in() -> None:
    seen: list[tuple[object, ...]] = []

    def note(payload: object, message: object) -> None:
        seen.append((message.consumer, message.key, message.headers, payload))  # type: ignore[attr-defined]

    send(delivery("k", {"n": 7}, headers={"x": "y"}))
    with consuming(note, name="billing"), consuming(note, name="mail"):
        text = _requeue()
        drain_all()
    assert "routed to billing as message" in text
    assert "routed to mail as message" in text
    assert sorted(row[0] for row in seen) == ["billing", "mail"]  # type: ignore[type-var]
    assert {row[1] for row in seen} == {"k"}
    assert [row[2] for row in seen] == [{"x": "y"}] * 2
    assert [row[3] for row in seen] == [{"n": 7}] * 2


def test_the_old_row_is_discarded_with_a_note_and_its_alert_is_closed() -> None:
    send(delivery("k"))
    with consuming(_ignore):
        _requeue()
    assert rows("SELECT count(*) FROM comboio_dead") == [(0,)]
    assert one("SELECT note FROM comboio_discarded").startswith("routed to test.apply as message")
    assert rows("SELECT DISTINCT state FROM comboio_alert") == [("resolved",)]
    assert rows("SELECT verb FROM comboio_audit") == [("requeue",)]


def test_what_a_consumer_knows_already_takes_no_effect_twice() -> None:
    ran: list[str] = []

    def note(_payload: object, message: object) -> None:
        ran.append(message.key)  # type: ignore[attr-defined]

    send(delivery("k"))
    with consuming(note):
        send(delivery("k"))
        text = _requeue()
        drain_all()
    assert "test.apply knows it already as message" in text
    assert ran == ["k"]


def test_a_body_that_no_session_can_be_read_from_stays_dead_in_words() -> None:
    send(replace(delivery("k", malformed="no JSON"), payload=b"{"))
    with (
        consuming(_ignore, session="account"),
        pytest.raises(RefusedError, match=r"stays dead: .*JSON"),
    ):
        _requeue()
    assert one("SELECT count(*) FROM comboio_dead") == 1
    assert one("SELECT count(*) FROM comboio_ready") == 0


def test_all_of_one_cause_are_routed_and_the_rest_is_told() -> None:
    send(*(delivery(f"k{n}") for n in range(3)), delivery("other", type="stranger"))
    cause = one("SELECT DISTINCT cause FROM comboio_dead")
    with consuming(_ignore, types=("test",)):
        done = messages.requeue_cause(ANNA, cause, up_to_version=2**62)
    assert done.count == 3
    assert done.text.startswith("3 requeued, 1 stays dead: no consumer takes the type “stranger”")
    assert one("SELECT count(*) FROM comboio_ready") == 3
    assert one("SELECT state FROM comboio_alert") == "open"
