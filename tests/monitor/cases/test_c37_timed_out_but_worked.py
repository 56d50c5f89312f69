"""C37: the call that timed out but worked; nobody is charged twice, and nobody guesses."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from monitor.domain.effect import Call, Evidence, Told
from monitor.domain.states import Verdict
from monitor.engine import verdict
from monitor.engine.http_call import OutcomeUnknownError
from monitor.operations import messages
from monitor.store import connections
from monitor.testing import Inbox
from tests.charging import WINDOW_SECONDS, charged, charging
from tests.monitor.operations.scenes import version
from tests.people import CLARA
from tests.rows import one, rows, run

BODY = {"cents": 250}
SILENCE = TimeoutError("no answer within 2 s")


def _without_evidence() -> int:
    """Effects with an outcome that nothing shows."""
    return int(
        one(
            "SELECT count(*) FROM comboio_effect e WHERE state IN ('completed', 'failed')"
            " AND NOT EXISTS (SELECT FROM comboio_evidence x WHERE x.effect_id = e.id)"
        )
    )


def test_the_outcome_is_unknown_until_the_provider_is_asked_and_then_done(inbox: Inbox) -> None:
    provider = inbox.provider("charge")
    provider.fail(SILENCE)
    with charging("queryable"):
        inbox.deliver("test", BODY, key="k")
        inbox.run()
        assert inbox.effects("k")[0].last_step == "no answer"
        (again,) = inbox.deliver("test", BODY, key="k", redelivered=True)
        inbox.run()
        # The redelivery is acknowledged and starts nothing: the inbox owns the work.
        assert (again.verdict, inbox.state("k") == "done") == (Verdict.DUPLICATE, False)
        inbox.settle()
    assert (inbox.state("k"), inbox.effects("k")[0].decided_by) == ("done", "probe")
    assert (len(provider.calls), len(provider.ledger), charged()) == (1, 1, 1)
    assert _without_evidence() == 0


def test_a_late_callback_settles_what_nobody_can_ask_for(inbox: Inbox) -> None:
    provider = inbox.provider("charge")
    provider.fail(SILENCE)
    with charging("neither"):
        inbox.deliver("test", BODY, key="k")
        inbox.settle()
        (effect,) = inbox.effects("k")
        assert inbox.state("k") == "in_doubt"
        evidence = Evidence(told=Told.DONE, result={"number": 7})
        with transaction.atomic():
            verdict.settle(connections.shared_cursor(), effect.id, evidence, source="callback")
        inbox.settle()
    assert (inbox.state("k"), inbox.result("k")) == ("done", {"number": 7})
    assert (len(provider.calls), charged(), _without_evidence()) == (1, 1, 0)


def test_a_provider_that_is_still_at_it_is_waited_for_with_the_same_key_and_bytes(
    inbox: Inbox,
) -> None:
    provider = inbox.provider("charge")
    provider.fail(SILENCE)
    provider.fail(OutcomeUnknownError("HTTP 409 Conflict"), times=2, acts=False)
    with charging("keyed"):
        inbox.deliver("test", BODY, key="k", times=2)
        inbox.settle()
    assert inbox.state("k") == "done"
    assert {(call.key, str(call.request)) for call in provider.calls} == {
        (provider.ledger[0], str(BODY))
    }
    assert (len(provider.calls), len(provider.ledger), charged()) == (4, 1, 1)


def test_another_request_under_the_same_key_never_leaves_the_house(inbox: Inbox) -> None:
    provider = inbox.provider("charge")
    provider.fail(SILENCE)

    def changes_its_mind(payload: Any, message: Any) -> None:
        message.effect("charge", {**payload, "attempt": message.attempt})

    with charging("keyed", changes_its_mind):
        inbox.deliver("test", BODY, key="k")
        inbox.settle()
    (effect,) = inbox.effects("k")
    assert (len(provider.calls), len(provider.ledger)) == (1, 1)
    assert inbox.state("k") in ("dead", "in_doubt")
    assert effect.calls == 1


def test_past_the_key_window_no_call_is_made_by_itself(inbox: Inbox) -> None:
    provider = inbox.provider("charge")
    provider.fail(SILENCE)
    with charging("keyed"):
        inbox.deliver("test", BODY, key="k")
        inbox.run()
        inbox.advance(seconds=WINDOW_SECONDS + 1)
        inbox.settle()
        assert (inbox.state("k"), inbox.effects("k")[0].state) == ("in_doubt", "in doubt")
        inbox.advance(seconds=WINDOW_SECONDS)
        inbox.settle()
    assert (len(provider.calls), len(provider.ledger), charged()) == (1, 1, 0)
    assert rows("SELECT kind, state FROM comboio_alert") == [("effect in doubt", "open")]


def test_what_is_requeued_on_day_two_finds_the_recorded_result(inbox: Inbox) -> None:
    provider = inbox.provider("charge")
    is_broken = True

    def charge_then_fail(payload: Any, message: Any) -> Any:
        receipt = message.effect("charge", payload)
        if is_broken:
            raise ValueError("after the charge")
        return receipt

    with charging("keyed", charge_then_fail):
        inbox.deliver("test", BODY, key="k")
        inbox.settle()
        (dead,) = inbox.dead()
        inbox.advance(seconds=2 * WINDOW_SECONDS)
        is_broken = False
        messages.requeue(CLARA, dead.id, seen=version("comboio_dead", dead.id))
        inbox.settle()
    assert (inbox.state("k"), len(provider.calls)) == ("done", 1)
    assert inbox.result("k")["key"] == provider.ledger[0]


def test_a_forgotten_key_is_no_excuse_for_a_second_charge(inbox: Inbox) -> None:
    forgetful: list[str] = []

    def charge_again(call: Call) -> Any:
        forgetful.append(call.key)  # it remembers nothing at all
        raise SILENCE

    with charging("keyed", call=charge_again):
        inbox.deliver("test", BODY, key="k")
        inbox.run()
        run("UPDATE comboio_effect SET key_until = now() - interval '1 second'")
        inbox.settle()
    assert len(forgetful) == 1
    assert inbox.state("k") == "in_doubt"
