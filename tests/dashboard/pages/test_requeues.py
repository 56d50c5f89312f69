"""Requeues of many: the plan in words, and each one on its way."""

from __future__ import annotations

import pytest
from django.test import Client

from tests import factories, factory_requeues
from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import one

pytestmark = pytest.mark.django_db


def _text(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return " ".join(looking.Markup(response.content.decode()).text.split())


def test_a_plan_tells_how_many_of_whom_and_what_stays_out(operator: Client, filled: Scene) -> None:
    dead = one("SELECT count(*) FROM comboio_dead WHERE consumer = %(c)s", c=filled.payments)
    text = _text(operator, f"/requeues/plan/?consumer={filled.payments}")
    for part in (f"{dead} messages", "payments.apply", "poison", "Sessions touched", "frozen"):
        assert part in text


def test_a_plan_tells_what_nobody_took_and_what_is_held(operator: Client) -> None:
    owner = factories.consumer()
    factories.message(owner, state="dead", session="s")
    number = one("SELECT session FROM comboio_dead")
    factories.gate(number, held_by="anna")
    factories.message(0, state="dead")
    text = _text(operator, "/requeues/plan/")
    assert "1 is routed again" in text
    assert "1 session is held by a person" in text


def test_a_plan_of_nothing_says_so(operator: Client) -> None:
    assert "Nothing to requeue" in _text(operator, "/requeues/plan/?cause=none")


@pytest.mark.parametrize(
    ("state", "why", "told"),
    [
        ("canary", "", "One message went ahead; 30 wait for its outcome."),
        ("waiting", "the first one was processed", "It waits for you: the first one was processed"),
        ("running", "", "It runs: 30 messages are still to come."),
        ("stopped", "stopped by bert", "Stopped: stopped by bert. 30 stay dead."),
    ],
)
def test_each_standing_has_its_sentence(state: str, why: str, told: str, viewer: Client) -> None:
    number = factory_requeues.requeue(factories.consumer(), state=state, why=why)
    assert told in _text(viewer, f"/requeues/{number}/")


def test_what_failed_again_is_listed_with_its_error(viewer: Client, filled: Scene) -> None:
    number = one("SELECT max(id) FROM comboio_bulk")
    text = _text(viewer, f"/requeues/{number}/")
    assert "What did not go well" in text
    assert "failed again" in text
    assert "9 processed" in text
    assert "3 of 12 failed again, more than 20 %" in text


def test_an_end_is_told_as_it_was(viewer: Client) -> None:
    owner = factories.consumer()
    good = factory_requeues.requeue(owner, state="done", left=0)
    bad = factory_requeues.requeue(
        owner, state="done", left=0, failed=(factories.message(owner, state="dead"),)
    )
    assert "All were processed." in _text(viewer, f"/requeues/{good}/")
    assert "some failed again" in _text(viewer, f"/requeues/{bad}/")


def test_a_large_cause_leads_to_its_plan_and_a_small_one_goes_at_once(operator: Client) -> None:
    owner = factories.consumer()
    for n in range(101):
        factories.message(owner, state="dead", session=f"s{n}", cause="poison: many")
    factories.message(owner, state="dead", session="x", cause="poison: few")
    html = operator.get("/").content.decode()
    assert "/requeues/plan/?cause=poison%3A%20many" in html
    assert "Requeue 101 messages…" in html
    assert 'value="poison: few"' in html
    assert 'value="poison: many"' not in html
