"""Verbs on effects in doubt: what a person knows or asks for, once; contradictions are told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from monitor.domain.effect import Call, Evidence, Told
from monitor.domain.errors import RefusedError
from monitor.engine import registry
from monitor.operations import effects
from tests import factories, factory_effects
from tests.monitor.operations.effect_scenes import in_doubt
from tests.monitor.operations.scenes import version
from tests.people import ANNA, CLARA, DORA
from tests.rows import one, rows, run
from tests.watching import watched_for

pytestmark = pytest.mark.django_db


def _seen(number: int) -> int:
    return version("comboio_effect", number)


def _state(number: int) -> tuple[Any, ...]:
    statement = "SELECT state, last_step, decided_by FROM comboio_effect WHERE id = %(id)s"
    return rows(statement, id=number)[0]


def _place(message: int) -> str:
    return str(one("SELECT state FROM comboio_message_state WHERE id = %(id)s", id=message))


def _evidence(number: int) -> list[tuple[Any, ...]]:
    """What was learnt after the call itself."""
    return rows(
        "SELECT source, verdict, actor FROM comboio_evidence"
        " WHERE effect_id = %(id)s AND source <> 'call' ORDER BY id",
        id=number,
    )


def _saying(told: Told, **more: Any) -> Any:
    return lambda _call: Evidence(told=told, **more)


def test_what_the_provider_knows_settles_the_effect_and_brings_the_message_back() -> None:
    message, number = in_doubt(_saying(Told.DONE, result={"r": 7}, reference="ch_7"))
    done = effects.reconcile_now(ANNA, number, seen=_seen(number))
    assert (done.count, "ch_7" in done.text) == (1, True), done
    assert _state(number) == ("completed", "asked", "anna")
    assert one("SELECT result->>'r' FROM comboio_effect WHERE id = %(id)s", id=number) == "7"
    assert _place(message) == "ready"
    assert _evidence(number) == [("probe", "done", "anna")]
    assert rows("SELECT state FROM comboio_alert") == [("resolved",)]


def test_a_probe_gets_the_key_and_the_request_of_the_call() -> None:
    calls: list[Call] = []

    def ask(call: Call) -> Evidence:
        calls.append(call)
        return Evidence(told=Told.CANNOT_TELL)

    message, number = in_doubt(ask)
    effects.reconcile_now(ANNA, number, seen=_seen(number))
    key, request = rows("SELECT key, request::text FROM comboio_effect")[0]
    assert [(c.key, c.request, c.message_id) for c in calls] == [
        (key, json.loads(request), message)
    ]


def test_not_found_within_the_settle_time_proves_nothing() -> None:
    message, number = in_doubt(_saying(Told.NOT_DONE))
    run("UPDATE comboio_effect SET called_at = clock_timestamp(), settle_seconds = 60")
    done = effects.reconcile_now(ANNA, number, seen=_seen(number))
    assert (done.count, _state(number)[0], _place(message)) == (0, "in doubt", "in_doubt")
    assert "ask again later" in done.text
    assert _evidence(number) == [("probe", "not done", "anna")]


def test_not_found_after_the_settle_time_lets_the_message_call_again() -> None:
    message, number = in_doubt(_saying(Told.NOT_DONE))
    with watched_for(60):
        assert effects.reconcile_now(ANNA, number, seen=_seen(number)).count == 1
    assert _state(number)[:2] == ("in progress", "not done")
    assert _place(message) == "ready"


def test_a_probe_that_fails_is_evidence_that_nobody_knows() -> None:
    def ask(_call: Call) -> Evidence:
        raise ConnectionError("refused \x00 by them")

    message, number = in_doubt(ask)
    done = effects.reconcile_now(ANNA, number, seen=_seen(number))
    assert (done.count, _place(message)) == (0, "in_doubt")
    assert "ConnectionError: refused" in done.text
    assert _evidence(number) == [("probe", "cannot tell", "anna")]


def test_who_was_faster_during_the_probe_is_named_and_the_evidence_is_kept() -> None:
    _, number = in_doubt()
    seen = _seen(number)

    def decide_first(_call: Call) -> Evidence:
        # As if another person decided while the provider thinks; this is no other thread.
        effects.mark_done(DORA, number, seen=seen, reference="ch_1", reason="")
        return Evidence(told=Told.DONE)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("monitor.engine.probing.ask", decide_first)
        with pytest.raises(RefusedError, match=r"settled as completed by dora at .*reload"):
            effects.reconcile_now(CLARA, number, seen=seen)
    assert _evidence(number) == [("person", "done", "dora"), ("probe", "done", "clara")]
    assert rows("SELECT actor FROM comboio_audit") == [("dora",)]


def test_a_provider_that_contradicts_a_person_opens_an_alert_and_changes_nothing() -> None:
    message, number = in_doubt()
    seen = _seen(number)

    def decide_first(_call: Call) -> Evidence:
        effects.mark_done(DORA, number, seen=seen, reference="ch_1", reason="")
        return Evidence(told=Told.NOT_DONE)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("monitor.engine.probing.ask", decide_first)
        with pytest.raises(RefusedError, match=r"by dora at .*contradicts.*alert is open"):
            effects.reconcile_now(CLARA, number, seen=seen)
    assert (_state(number)[0], _place(message)) == ("completed", "ready")
    assert rows("SELECT state, target FROM comboio_alert WHERE kind = 'conflict'") == [
        ("open", number)
    ]
    assert _evidence(number)[-1] == ("probe", "not done", "clara")


def test_marked_done_the_handler_gets_the_reference_as_the_result() -> None:
    message, number = in_doubt()
    effects.mark_done(CLARA, number, seen=_seen(number), reference=" ch_9 ", reason="their console")
    found = rows("SELECT state, reference, result FROM comboio_effect")
    assert [(s, r, json.loads(j) if isinstance(j, str) else j) for s, r, j in found] == [
        ("completed", "ch_9", {"reference": "ch_9"})
    ]
    assert _place(message) == "ready"
    assert rows("SELECT reason, detail->>'reference' FROM comboio_audit") == [
        ("their console", "ch_9")
    ]


def test_marked_not_done_a_call_may_go_out_again_even_within_the_settle_time() -> None:
    message, number = in_doubt()
    run("UPDATE comboio_effect SET called_at = clock_timestamp(), settle_seconds = 60")
    effects.mark_not_done(CLARA, number, seen=_seen(number), reason="asked them")
    assert _state(number) == ("in progress", "not done", "clara")
    assert _place(message) == "ready"


@pytest.mark.parametrize("text", ["", "  "])
def test_a_verdict_without_its_proof_is_refused(text: str) -> None:
    message, number = in_doubt()
    seen = _seen(number)
    with pytest.raises(RefusedError, match="Give the reference"):
        effects.mark_done(CLARA, number, seen=seen, reference=text, reason="x")
    with pytest.raises(RefusedError, match="it will happen twice"):
        effects.mark_not_done(CLARA, number, seen=seen, reason=text)
    assert (_place(message), _evidence(number)) == ("in_doubt", [])


def test_after_a_verdict_not_done_evidence_of_done_blocks_until_a_person_decides() -> None:
    message, number = in_doubt(_saying(Told.DONE))
    seen = _seen(number)

    def decide_first(_call: Call) -> Evidence:
        effects.mark_not_done(DORA, number, seen=seen, reason="I think so")
        return Evidence(told=Told.DONE)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("monitor.engine.probing.ask", decide_first)
        with pytest.raises(RefusedError, match="“not done” by dora, which this contradicts"):
            effects.reconcile_now(CLARA, number, seen=seen)
    assert (_state(number)[0], _place(message)) == ("in doubt", "in_doubt")
    with pytest.raises(RefusedError, match="Its message waits"):
        effects.reconcile_now(CLARA, number, seen=_seen(number))
    effects.mark_done(CLARA, number, seen=_seen(number), reference="ch_1", reason="it is there")
    assert (_state(number)[0], _place(message)) == ("completed", "ready")
    assert one("SELECT conflict FROM comboio_effect") == ""
    assert rows("SELECT DISTINCT state FROM comboio_alert") == [("resolved",)]


def test_a_person_who_contradicts_an_outcome_is_told_and_overwrites_nothing() -> None:
    owner = factories.consumer()
    number = factory_effects.effect(factories.message(owner, state="done"), state="completed")
    with pytest.raises(RefusedError, match=r"by the answer to the call at .*contradicts"):
        effects.mark_not_done(CLARA, number, seen=_seen(number), reason="they deny it")
    assert _state(number)[0] == "completed"
    assert rows("SELECT kind, state FROM comboio_alert") == [("conflict", "open")]
    assert rows("SELECT verb, detail->>'outcome' FROM comboio_audit") == [
        ("mark not done", "conflict")
    ]


def test_a_provider_that_cannot_be_asked_is_told_in_words() -> None:
    _, number = factory_effects.in_doubt(factories.consumer(), kind="neither")
    with pytest.raises(RefusedError, match="not declared any more"):
        effects.reconcile_now(ANNA, number, seen=_seen(number))
    _, number = in_doubt(kind="neither", can_be_asked=False)
    with pytest.raises(RefusedError, match="cannot be asked: a person"):
        effects.reconcile_now(ANNA, number, seen=_seen(number))


def test_escalate_opens_an_acknowledged_alert_again_with_the_reason() -> None:
    _, number = in_doubt()
    run("UPDATE comboio_alert SET state = 'acknowledged', acknowledged_by = 'bert'")
    effects.escalate(ANNA, number, seen=_seen(number), reason="a large sum")
    ((state, by, title),) = rows("SELECT state, acknowledged_by, title FROM comboio_alert")
    assert (state, by) == ("open", None)
    assert "escalated by anna: a large sum" in title
    assert one("SELECT escalated_by FROM comboio_effect") == "anna"


@pytest.mark.parametrize("verb", ["reconcile_now", "mark_done", "mark_not_done", "escalate"])
def test_an_unknown_effect_is_refused(verb: str) -> None:
    more = {
        "reconcile_now": {},
        "mark_done": {"reference": "r", "reason": ""},
        "mark_not_done": {"reason": "x"},
        "escalate": {"reason": ""},
    }[verb]
    with pytest.raises(RefusedError, match="There is no effect 4711"):
        getattr(effects, verb)(CLARA, 4711, seen=1, **more)


def test_scenes_leave_no_consumer_behind() -> None:
    assert not [each for each in registry.all_consumers() if each.name.startswith("scene.")]
