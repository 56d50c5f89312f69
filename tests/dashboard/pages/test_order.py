"""Gaps, delays and throttled consumers in words, wherever they are told of."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import resolve

from monitor.domain.states import AlertKind
from tests import factories, factory_figures
from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import one, run

pytestmark = pytest.mark.django_db


def test_a_throttled_consumer_says_since_when_why_and_what_next(
    viewer: Client, filled: Scene
) -> None:
    number = one("SELECT id FROM comboio_consumer WHERE name = 'sms.send'")
    text = _text(viewer, f"/consumers/{number}/")
    assert "Throttled: its downstream is away" in text
    assert "7 failures in a row" in text
    assert "ConnectionError: gateway is away" in text
    assert "throttled" in _text(viewer, "/consumers/")


def test_a_policy_is_told_in_words(viewer: Client, filled: Scene) -> None:
    number = one("SELECT id FROM comboio_consumer WHERE name = 'orders.book'")
    run(
        "UPDATE comboio_consumer SET policy = policy || %(p)s::jsonb WHERE id = %(i)s",
        p='{"concurrency": 3, "priority": "shop.first", "version": "n", "check_session": true}',
        i=number,
    )
    text = _text(viewer, f"/consumers/{number}/")
    assert "by number from 1 on; a gap is told after 300.0 s" in text
    for word in ("at most 3", "Priority by shop.first", "version n", "yes, before each run"):
        assert word in text
    assert "None" not in text


def test_the_overview_leads_to_the_gap_and_to_the_throttled_consumer(
    viewer: Client, filled: Scene
) -> None:
    html = viewer.get("/").content.decode()
    assert "Session ord-9 of orders.book waits for numbers 4 to 5; 3 wait behind." in html
    assert f'href="/sessions/{filled.gap_session}/"' in html
    assert "sms.send is throttled: its downstream is away" in html


@pytest.mark.parametrize("kind", list(AlertKind))
def test_every_kind_of_alert_has_words_and_a_page(kind: AlertKind, viewer: Client) -> None:
    owner = factories.consumer()
    number = factories.alert(owner, kind=kind, target=owner)
    response = viewer.get(f"/alerts/{number}/")
    assert response.status_code == 302
    assert resolve(response["Location"].partition("?")[0])
    assert viewer.get("/alerts/").status_code == 200


def test_a_message_tells_its_number_when_it_was_sent_and_what_happened(
    viewer: Client, filled: Scene
) -> None:
    run(
        "UPDATE comboio_message SET is_last = true, sent_at = '2026-01-02 03:04:05+00'"
        " WHERE id = %(i)s",
        i=filled.corrected,
    )
    for kind in ("downstream away", "skip gap", "skip head", "replay"):
        factory_figures.event(filled.corrected, kind=kind, actor="anna")
    text = _text(viewer, f"/messages/{filled.corrected}/")
    assert "Number 1 · the last of its session" in text
    assert "Sent 2026-01-02 03:04:05" in text
    for words in (
        "Its downstream was away; no attempt is counted",
        "Missing numbers given up before it",
        "Its session went on without it",
        "Corrected and replayed",
    ):
        assert words in text
    assert "Revision 2, corrected by bert" in text
    assert "1205" not in text  # payloads are for those who may see them


def _text(client: Client, page: str) -> str:
    return re.sub(r"\s+", " ", looking.Markup(client.get(page).content.decode()).text)
