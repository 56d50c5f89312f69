"""C08: the same key with another payload, from its arrival to the verdict."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from monitor.domain.effect import Call, Effect
from monitor.domain.message import Receipt
from monitor.domain.projection import Fingerprint
from monitor.domain.states import Cause, Verdict
from monitor.operations import effects, mismatches
from monitor.testing import Inbox
from tests import entrance
from tests.charging import charged, charging, never
from tests.engine import consuming, delivery, drain_all, send
from tests.monitor.operations.scenes import version
from tests.people import CLARA
from tests.rows import one, rows

pytestmark = pytest.mark.django_db(transaction=True)

FIRST, SECOND = {"amount": 1}, {"amount": 2}


class _Ledger:
    """Notes what took effect; the first payload fails when it is poison."""

    def __init__(self, *, is_poison: bool = False) -> None:
        self.effects: list[tuple[str, Any]] = []
        self._is_poison = is_poison

    def __call__(self, payload: Any, message: Any) -> None:
        if self._is_poison and payload == FIRST:
            raise ValueError("poison")
        self.effects.append((message.key, payload["amount"]))


def _reach(state: str) -> None:
    while state != "ready" and one("SELECT state FROM comboio_message_state") != state:
        drain_all()


@pytest.mark.parametrize("state", ["ready", "done", "dead"])
def test_the_first_keeps_payload_and_state_and_the_second_has_no_effect(state: str) -> None:
    ledger = _Ledger(is_poison=state == "dead")
    with consuming(ledger.__call__):
        send(delivery("k", FIRST))
        _reach(state)
        ((receipt,),) = send(delivery("k", SECOND))
        assert (receipt.verdict, receipt.state) == (Verdict.MISMATCH, state)
        assert one("SELECT state FROM comboio_message_state") == state
        drain_all()
    assert rows("SELECT payload FROM comboio_message") == [(b'{"amount":1}',)]
    assert ledger.effects == ([] if state == "dead" else [("k", 1)])


def _arrives(payload: Any) -> Receipt:
    """What another process answers to a delivery at this moment."""

    def deliver() -> Receipt:
        try:
            ((receipt,),) = send(delivery("k", payload))
            return receipt
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as other:
        return other.submit(deliver).result(20)


def test_while_its_handler_runs_the_other_payload_is_told_at_once_and_changes_nothing() -> None:
    told: list[Receipt] = []
    ledger = _Ledger()

    def handle(payload: Any, message: Any) -> None:
        told.append(_arrives(SECOND))
        ledger(payload, message)

    with consuming(handle):
        send(delivery("k", FIRST))
        drain_all()
    assert [(each.verdict, each.state) for each in told] == [(Verdict.MISMATCH, "ready")]
    assert ledger.effects == [("k", 1)]
    assert rows("SELECT state FROM comboio_message_state") == [("done",)]
    assert rows("SELECT payload FROM comboio_message") == [(b'{"amount":1}',)]
    assert rows("SELECT payload, count FROM comboio_mismatch") == [(b'{"amount":2}', 1)]


def test_while_its_session_is_leased_the_other_payload_is_told_and_calls_nothing() -> None:
    requests: list[Any] = []
    told: list[Receipt] = []

    def call(call: Call) -> Any:
        assert one("SELECT count(*) FROM comboio_lease") == 1
        told.append(_arrives(SECOND))
        requests.append(call.request)
        return {"charge": 1}

    with charging("keyed", call=call):
        send(delivery("k", FIRST))
        drain_all()
    assert [each.verdict for each in told] == [Verdict.MISMATCH]
    assert (requests, charged()) == ([FIRST], 1)
    assert rows("SELECT state FROM comboio_message_state") == [("done",)]
    assert rows("SELECT count FROM comboio_mismatch") == [(1,)]


def test_its_sender_is_answered_422_each_time_and_each_payload_is_one_record() -> None:
    with entrance.configured(plain=entrance.PLAIN), entrance.effects("plain"):
        answers = [
            entrance.post("plain", json.dumps({"id": "k", "amount": amount}).encode())
            for amount in (1, 2, 2, 3)
        ]
        drain_all()
        answers.append(entrance.post("plain", b'{"id": "k", "amount": 2}'))
        answers.append(entrance.post("plain", b'{"amount": 1.0, "id": "k"}'))
    assert [each.status for each in answers] == [202, 422, 422, 422, 422, 200]
    assert rows("SELECT count FROM comboio_mismatch ORDER BY id") == [(3,), (1,)]
    assert rows("SELECT kind, count FROM comboio_alert") == [("mismatch", 4)]


def test_a_thousand_times_is_one_record_that_counts_and_one_alert() -> None:
    with consuming(_Ledger().__call__):
        send(delivery("k", FIRST))
        for _ in range(10):
            receipts = send(*(delivery("k", SECOND) for _ in range(100)))
            assert {each[0].verdict for each in receipts} == {Verdict.MISMATCH}
    assert rows("SELECT count FROM comboio_mismatch") == [(1000,)]
    assert rows("SELECT kind, state FROM comboio_alert") == [("mismatch", "open")]


def test_an_accepted_correction_of_a_dead_message_runs_once_and_is_linked() -> None:
    ledger = _Ledger(is_poison=True)
    with consuming(ledger.__call__):
        send(delivery("k", FIRST, session="s"))
        _reach("dead")
        send(delivery("k", SECOND, session="s"))
        number = one("SELECT id FROM comboio_mismatch")
        seen = version("comboio_mismatch", number)
        mismatches.accept_second(CLARA, number, seen=seen, reason="corrected by the sender")
        drain_all()
        ((again,),) = send(delivery("k", SECOND, session="s"))
        drain_all()
    new = one("SELECT accepted_id FROM comboio_mismatch")
    assert (again.verdict, again.message_id) == (Verdict.DUPLICATE, new)
    assert again.cause is Cause.REPEATED
    assert [amount for _, amount in ledger.effects] == [2]
    assert rows("SELECT reason FROM comboio_dead") == [("poison",)]


def test_after_keep_first_the_same_payload_again_opens_no_new_alert() -> None:
    with consuming(_Ledger().__call__):
        send(delivery("k", FIRST))
        send(delivery("k", SECOND))
        number = one("SELECT id FROM comboio_mismatch")
        seen = version("comboio_mismatch", number)
        mismatches.keep_first(CLARA, number, seen=seen, reason="a typing error")
        ((again,),) = send(delivery("k", SECOND))
    assert again.verdict is Verdict.MISMATCH
    assert rows("SELECT state FROM comboio_alert") == [("resolved",)]
    assert rows("SELECT count, verdict FROM comboio_mismatch") == [(2, "keep first")]


def test_while_an_effect_is_in_doubt_the_other_payload_changes_nothing(inbox: Inbox) -> None:
    provider = inbox.provider("charge")
    provider.fail(TimeoutError("no answer"))
    effect = Effect(name="charge", call=never, kind="neither")

    def charge(payload: Any, message: Any) -> Any:
        return message.effect("charge", payload)

    with consuming(charge, external=True, effects=(effect,)):
        inbox.deliver("test", FIRST, key="k")
        inbox.settle()
        (receipt,) = inbox.deliver("test", SECOND, key="k")
        inbox.settle()
        assert (receipt.verdict, receipt.state) == (Verdict.MISMATCH, "in_doubt")
        (number,) = [each.id for each in inbox.effects("k")]
        seen = version("comboio_effect", number)
        effects.mark_done(CLARA, number, seen=seen, reference="no. 7", reason="seen there")
        inbox.settle()
    assert inbox.state("k") == "done"
    assert [call.request for call in provider.calls] == [FIRST]
    assert rows("SELECT payload FROM comboio_message") == [(b'{"amount":1}',)]
    assert rows("SELECT count, payload FROM comboio_mismatch") == [(1, b'{"amount":2}')]


def test_a_projection_that_finds_nothing_in_a_payload_never_makes_two_of_them_equal() -> None:
    part = Fingerprint(only=("no.such.member",))
    with consuming(lambda _payload, _message: None, fingerprint=part):
        send(delivery("k", FIRST))
        ((receipt,),) = send(delivery("k", SECOND))
    assert receipt.verdict == Verdict.MISMATCH


def test_what_a_consumer_does_not_compare_makes_no_mismatch() -> None:
    part = Fingerprint(ignore=("sent_at",))
    with consuming(lambda _payload, _message: None, fingerprint=part):
        send(delivery("k", {**FIRST, "sent_at": 1}))
        ((receipt,),) = send(delivery("k", {**FIRST, "sent_at": 2}))
    assert receipt.verdict == Verdict.DUPLICATE
