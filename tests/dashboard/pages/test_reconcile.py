"""Reconcile, and state "in doubt" on every page that shows states."""

from __future__ import annotations

import pytest
from django.test import Client

from tests import factories, factory_effects, factory_figures
from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import one, run

pytestmark = pytest.mark.django_db


def _text(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return " ".join(looking.Markup(response.content.decode()).text.split())


def _session(message_id: int) -> int:
    return int(one("SELECT session FROM comboio_message WHERE id = %(id)s", id=message_id))


def test_the_list_says_what_is_unknown_and_what_the_evidence_says(
    viewer: Client, filled: Scene
) -> None:
    text = _text(viewer, "/reconcile/")
    key = one("SELECT key FROM comboio_effect WHERE id = %(id)s", id=filled.effect)
    for part in (key, "charge-2026-07-0077", "acc-77", "in doubt", "called, but no answer came"):
        assert part in text
    assert "no answer to go by The provider, asked" in text
    assert "ch_0" not in text


def test_each_list_shows_its_own_effects(viewer: Client, filled: Scene) -> None:
    conflicts = _text(viewer, "/reconcile/?show=conflict")
    assert "the provider says that it was not done" in conflicts
    assert "fax" not in conflicts
    settled = _text(viewer, "/reconcile/?show=settled")
    assert "completed" in settled
    assert "failed" in settled
    assert "in doubt" not in settled.replace("In doubt", "")
    assert "This consumer has no such effect" in _text(viewer, f"/reconcile/?consumer={99}")


@pytest.mark.parametrize(
    ("show", "told"),
    [("doubt", "No effect in doubt"), ("conflict", "No conflict"), ("settled", "Nothing settled")],
)
def test_an_empty_list_says_that_this_is_good(show: str, told: str, viewer: Client) -> None:
    assert told in _text(viewer, f"/reconcile/?show={show}")


def test_an_effect_shows_its_evidence_in_order(senior: Client, filled: Scene) -> None:
    text = _text(senior, f"/reconcile/{filled.effect}/")
    assert "Nobody knows whether “charge” happened." in text
    early = "Too soon after the call to prove anything."
    parts = (
        "TimeoutError: no answer",
        "it did not happen",
        early,
        "no charge with this key",
        "503",
    )
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "Parked behind it 3" in text
    assert "The clock asks the provider again at" in text
    assert '"amount_cents": 1250' in text


def test_what_a_payload_may_hold_is_shown_to_revealers_only(viewer: Client, filled: Scene) -> None:
    text = _text(viewer, f"/reconcile/{filled.effect}/")
    assert "amount_cents" not in text
    assert "no charge with this key" not in text
    assert "it did not happen" in text
    assert "503" in text


def test_what_a_provider_says_is_text_and_never_markup(senior: Client, filled: Scene) -> None:
    number = one("SELECT id FROM comboio_effect WHERE name LIKE '%%img%%'")
    message = one("SELECT message_id FROM comboio_effect WHERE id = %(id)s", id=number)
    for path in (f"/reconcile/{number}/", f"/messages/{message}/", "/reconcile/?show=settled"):
        markup = looking.Markup(senior.get(path).content.decode())
        assert markup.inline == []
        assert "<img src=x onerror=alert(1)>" in markup.text
    assert "<script>alert(1)</script>" in _text(senior, f"/reconcile/{number}/")


def test_a_late_clock_is_told(viewer: Client, filled: Scene) -> None:
    run("UPDATE comboio_effect SET probe_at = now() - interval '1 hour' WHERE state = 'in doubt'")
    assert "The clock should have asked at" in _text(viewer, f"/reconcile/{filled.effect}/")


def test_a_conflict_shows_both_sides_and_what_stands(viewer: Client, filled: Scene) -> None:
    number = one("SELECT id FROM comboio_effect WHERE conflict <> ''")
    text = _text(viewer, f"/reconcile/{number}/")
    assert "Conflict: the provider says that it was not done" in text
    assert "“completed”, decided by anna at" in text
    assert text.index("The call: it happened") < text.index("asked: it did not happen")


def test_what_a_provider_cannot_tell_is_left_to_a_person(senior: Client, filled: Scene) -> None:
    number = one("SELECT id FROM comboio_effect WHERE name = 'fax'")
    html = senior.get(f"/reconcile/{number}/").content.decode()
    assert "This provider cannot be asked" in html
    assert f"/reconcile/{number}/ask/" not in html
    assert f"/reconcile/{number}/done/" in html


def test_a_message_in_doubt_tells_its_effect_in_its_timeline(viewer: Client, filled: Scene) -> None:
    text = _text(viewer, f"/messages/{filled.doubted}/")
    assert "In doubt: nobody knows whether “charge” happened." in text
    parts = ("Received", "Call to the outside recorded", "Set aside: outcome unknown")
    assert all(part in text for part in parts)
    assert text.index("Received") < text.index("Call to the outside recorded")
    assert "“charge”: it did not happen. Told by: The provider, asked." in text
    html = viewer.get(f"/messages/{filled.doubted}/").content.decode()
    assert f'href="/reconcile/{filled.effect}/"' in html


def test_what_waits_behind_a_doubt_is_parked_and_says_behind_what(
    viewer: Client, filled: Scene
) -> None:
    behind = one(
        "SELECT min(id) FROM comboio_ready WHERE session = %(s)s", s=filled.doubted_session
    )
    text = _text(viewer, f"/messages/{behind}/")
    assert "Parked: a message before it in its session is in doubt." in text
    assert f"behind message {filled.doubted}, in doubt" in text
    html = viewer.get(f"/sessions/{filled.doubted_session}/").content.decode()
    assert f"Held by message {filled.doubted}, which is in doubt" in html
    assert html.count('class="car" data-row data-state="parked"') == 3
    assert html.count('class="car" data-row data-state="in_doubt" data-blocker') == 1


def test_sessions_name_the_doubt_as_their_blocker(viewer: Client, filled: Scene) -> None:
    html = viewer.get("/sessions/?show=blocked").content.decode()
    for session in ("acc-77", "acc-78"):
        assert session in html
    assert html.count('data-state="in_doubt"') == 2
    assert f'href="/reconcile/{filled.effect}/"' in html


def test_messages_can_be_listed_by_the_state(viewer: Client, filled: Scene) -> None:
    text = _text(viewer, "/messages/?state=in_doubt")
    assert "charge-2026-07-0077" in text
    assert "pay-2026-07-4711-5" not in text


def test_alerts_lead_to_the_effect(viewer: Client, filled: Scene) -> None:
    html = viewer.get("/alerts/").content.decode()
    assert f'href="/reconcile/{filled.effect}/"' in html
    assert "conflict of evidence" in html


def test_the_overview_counts_doubts_and_offers_to_ask_for_one(
    operator: Client, filled: Scene
) -> None:
    text = _text(operator, "/")
    assert (
        "2 calls to the outside by payments.charge have no known outcome; "
        "3 messages wait behind them." in text
    )
    assert "payments.charge: evidence contradicts what was decided." in text
    run("DELETE FROM comboio_in_doubt WHERE id <> %(id)s", id=filled.doubted)
    html = operator.get("/").content.decode()
    assert "Nobody knows whether “charge” of payments.charge happened" in html
    assert f'action="/reconcile/{filled.effect}/ask/"' in html


def test_a_leased_session_shows_its_holder(senior: Client, filled: Scene) -> None:
    session = one("SELECT session FROM comboio_lease")
    text = _text(senior, f"/sessions/{session}/")
    assert "host-1 7 works on message" in text
    assert "renewed 2 times" in text
    assert "running" in text
    run("UPDATE comboio_lease SET expires_at = now() - interval '1 s'")
    html = senior.get(f"/sessions/{session}/").content.decode()
    assert "the next worker takes over" in html
    assert f"/sessions/{session}/steal/" not in html


@pytest.mark.parametrize(
    ("states", "told"),
    [
        ((), "safe: no effect recorded"),
        (("failed",), "safe: nothing happened outside"),
        (("completed",), "no-op: its effect was completed at"),
        (("completed", "in progress"), "ask first: the outcome of 1 effect is unknown"),
    ],
)
def test_every_retry_says_in_words_whether_it_is_safe(
    states: tuple[str, ...], told: str, viewer: Client
) -> None:
    owner = factories.consumer(when_dead="hold")
    number = factories.message(owner, state="dead", holds=True)
    for name in states:
        factory_effects.effect(number, name=name, state=name)
    factory_figures.snapshot()
    pages = ["/dead-letters/", f"/messages/{number}/", f"/sessions/{_session(number)}/"]
    for path in pages:
        assert told in _text(viewer, path), path
    of_all = told.replace("no-op: its effect was completed at", "no-op: completed effects")
    for path in ("/", "/triage/", "/triage/?kind=dead+letter"):
        assert of_all in _text(viewer, path), path


def test_a_done_message_cannot_take_effect_twice(viewer: Client, filled: Scene) -> None:
    assert "no-op: completed at" in _text(viewer, f"/messages/{filled.done}/")


def test_the_books_count_what_is_in_doubt(viewer: Client, filled: Scene) -> None:
    text = _text(viewer, "/system/")
    assert "+ in doubt 2" in text
    assert "Balanced: every accepted message is in exactly one state." in text
