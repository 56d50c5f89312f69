"""Mismatches, duplicates, consumers, alerts, audit and system: what each must tell."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.dashboard import looking
from tests.dashboard.conftest import SignIn
from tests.dashboard.scene import Scene
from tests.rows import one, run

pytestmark = pytest.mark.django_db


def _text(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return " ".join(looking.Markup(response.content.decode()).text.split())


def test_a_mismatch_shows_what_differs_and_what_is_equal(senior: Client, filled: Scene) -> None:
    text = _text(senior, f"/mismatches/{filled.mismatch}/")
    for part in ("amount_cents", "1273", "12730", "lines[1].sku", '"SEAT"', '"BIKE"', "not there"):
        assert part in text
    assert "other values are equal" in text
    assert "producer/2" in text
    for part in (
        "What is equal",
        "account",
        '"acc-3"',
        "Content type",
        "Fingerprint",
        "Deliveries",
    ):
        assert part in text


def test_a_mismatch_hides_payloads_from_those_who_may_not_see_them(
    sign_in: SignIn, filled: Scene
) -> None:
    text = _text(sign_in("viewer"), f"/mismatches/{filled.mismatch}/")
    assert "12730" not in text
    assert "reveal payload" in text


def test_duplicates_have_a_sentence_a_picture_and_a_table(viewer: Client, filled: Scene) -> None:
    html = viewer.get("/duplicates/").content.decode()
    assert html.count("<figure") == 2
    assert "Rate by cause" in looking.Markup(html).text
    assert 'class="bar s0"' in html
    text = _text(viewer, "/duplicates/?show=consumer&minutes=180")
    assert "deliveries were duplicates" in text
    assert "The same as a table" in text
    assert "keys are kept 14 d" in text


def test_a_consumer_shows_its_policy(viewer: Client, filled: Scene) -> None:
    text = _text(viewer, f"/consumers/{filled.payments}/")
    assert "its session is held until somebody decides" in text
    assert "every type of its source" in text


@pytest.mark.parametrize("show", ["open", "acknowledged", "resolved"])
def test_alerts_are_listed_by_state(show: str, viewer: Client, filled: Scene) -> None:
    text = _text(viewer, f"/alerts/?show={show}")
    assert ("SMTPServerDisconnected" in text) == (show == "open")


def test_an_alert_leads_to_where_it_can_be_mended(viewer: Client, filled: Scene) -> None:
    html = viewer.get("/alerts/").content.decode()
    assert f'href="/sessions/{filled.held_session}/"' in html
    assert f'href="/mismatches/{filled.mismatch}/"' in html
    assert 'href="/triage/' in html


def test_the_audit_can_be_narrowed_to_a_person_and_a_thing(viewer: Client, filled: Scene) -> None:
    assert "bert" in _text(viewer, "/audit/")
    assert "bert" not in _text(viewer, "/audit/?actor=anna")
    assert "bert" not in _text(viewer, f"/audit/?object=message:{filled.dead}")
    assert "No act matches" in _text(viewer, "/audit/?actor=nobody")


def test_the_books_and_the_workers_are_shown(viewer: Client, filled: Scene) -> None:
    text = _text(viewer, "/system/")
    assert "Balanced: every accepted message is in exactly one state." in text
    assert "host-1" in text


def test_dead_letters_are_grouped_by_cause(viewer: Client, filled: Scene) -> None:
    text = _text(viewer, "/dead-letters/")
    assert "SMTPServerDisconnected" in text
    cause = "poison: SMTPServerDisconnected: Connection unexpectedly closed: timed out"
    response = viewer.get("/dead-letters/", {"cause": cause}, follow=True)
    assert response.content.decode().count('name="pick"') == 14


def test_a_dead_letter_is_its_message(viewer: Client, filled: Scene) -> None:
    response = viewer.get(f"/dead-letters/{filled.dead}/")
    assert (response.status_code, response["Location"]) == (302, f"/messages/{filled.dead}/")


@pytest.mark.parametrize("way", ["cause", "consumer", "origin", "type"])
def test_the_duplicate_rate_is_told_by_what_is_asked_for(
    way: str, viewer: Client, filled: Scene
) -> None:
    text = _text(viewer, f"/duplicates/?show={way}")
    named = {
        "cause": "after the first was done",
        "consumer": "payments.apply",
        "origin": "payments",
        "type": "payment",
    }
    _before, _head, table = text.partition(f"Rate by {way}")
    assert named[way] in table
    assert "%" in table[:400]


def test_the_audit_can_be_narrowed_to_a_span_of_time_in_the_viewers_zone(
    viewer: Client, filled: Scene
) -> None:
    run("UPDATE comboio_audit SET at = '2026-07-01 10:00:00+00' WHERE actor = 'bert'")
    run("UPDATE comboio_audit SET at = '2026-07-01 08:00:00+00' WHERE actor = 'anna'")
    viewer.cookies["tz"] = "Europe/Lisbon"  # an hour ahead of UTC in July
    text = _text(viewer, "/audit/?since=2026-07-01T10:30&until=2026-07-01T11:30")
    assert "bert" in text
    assert "anna" not in text
    html = viewer.get("/audit/?since=2026-07-01T10:30&until=").content.decode()
    assert 'name="since" value="2026-07-01T10:30"' in html
    assert 'name="since" value="2026-07-01T09:30:00+00:00"' in html  # of the export
    viewer.cookies["tz"] = "UTC"
    assert "bert" not in _text(viewer, "/audit/?since=2026-07-01T10:30")


def test_the_export_of_the_audit_has_the_same_filter(viewer: Client, filled: Scene) -> None:
    run("UPDATE comboio_audit SET at = '2026-07-01 10:00:00+00' WHERE actor = 'bert'")
    run("UPDATE comboio_audit SET at = '2026-07-01 08:00:00+00' WHERE actor = 'anna'")
    response = viewer.post("/audit/export/", {"since": "2026-07-01T09:00:00+00:00"})
    found = b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]
    assert "bert" in found
    assert "anna" not in found
    detail = one("SELECT detail::text FROM comboio_audit WHERE verb = 'export'")
    assert "since=2026-07-01" in detail
