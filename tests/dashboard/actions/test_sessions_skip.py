"""Skip of a gap and of a head, with what runs next said before the click."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from tests import factories, factory_order
from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import one, run

pytestmark = pytest.mark.django_db


def test_the_page_says_what_it_waits_for_and_what_a_skip_leads_to(
    senior: Client, filled: Scene
) -> None:
    text = _text(senior, f"/sessions/{filled.gap_session}/")
    assert "It waits for numbers 4 to 5; 6 is there." in text
    assert "Given up: numbers 4 to 5; should one still come, it is stale." in text
    assert "Then it waits for number 8; 9 is there." in text
    assert "Delayed 1 next due" in text
    assert text.count("stale") > 1  # the stale one in the strip, too


def test_a_gap_is_skipped_with_a_reason(senior: Client, filled: Scene) -> None:
    page = f"/sessions/{filled.gap_session}/"
    url = f"{page}skip-gap/"
    values = {"seen": looking.seen(senior, page, url), "next": page}
    assert senior.post(url, values).status_code == 409  # without a reason
    response = senior.post(url, values | {"reason": "lost at the sender"}, follow=True)
    text = _flat(response.content.decode())
    assert "goes on with number 6, without numbers 4 to 5." in text
    assert "It waits for" not in text
    assert senior.post(url, values | {"reason": "again"}).status_code == 409


def test_a_gap_from_number_0_can_be_skipped(senior: Client, filled: Scene) -> None:
    run(
        "UPDATE comboio_sequence SET next = 0 WHERE session = %(s)s",
        s=filled.gap_session,
    )
    url = f"/sessions/{filled.gap_session}/skip-gap/"
    assert senior.post(url, {"seen": "0", "reason": "starts at 1"}).status_code == 303


def test_the_list_names_the_gap_and_offers_the_skip_with_its_preview(
    senior: Client, filled: Scene
) -> None:
    text = _text(senior, "/sessions/?show=blocked")
    assert "waits for numbers 4 to 5; 6 is there" in text
    assert "Runs next: number 6 (message" in text
    assert "1 delayed, next due" in text
    url = f"/sessions/{filled.gap_session}/skip-gap/"
    assert looking.seen(senior, "/sessions/?show=blocked", url) == "4"


def test_a_dead_head_is_skipped_and_stays_dead(senior: Client, filled: Scene) -> None:
    page = f"/sessions/{filled.held_session}/"
    url = f"{page}skip-head/"
    assert f"without message {filled.dead_head}, which stays among" in _text(senior, page)
    values = {"seen": looking.seen(senior, page, url), "reason": "a test", "next": page}
    assert senior.post(url, values).status_code == 303
    assert looking.state(filled.dead_head) == "dead"
    assert "It runs." in _text(senior, page)


def test_an_operator_sees_the_skips_disabled(operator: Client, filled: Scene) -> None:
    html = operator.get(f"/sessions/{filled.gap_session}/").content.decode()
    assert "skip-gap/" not in html
    assert "This needs the permission “decide”" in html


def test_a_session_of_delayed_messages_says_so(senior: Client) -> None:
    owner = factories.consumer()
    number = factories.message(owner, session="later")
    factory_order.delay(number)
    session = factory_order.session_of(number)
    assert "What waits in it was delayed by its sender." in _text(senior, f"/sessions/{session}/")
    assert "later" in _text(senior, "/sessions/")
    text = _text(senior, f"/messages/{number}/")
    assert "Delayed by its sender; it holds nobody of its session. until" in text
    assert one("SELECT count(*) FROM comboio_ready") == 0
    assert f"/messages/{number}/" in senior.get("/messages/?state=waiting").content.decode()


def _text(client: Client, page: str) -> str:
    return _flat(client.get(page).content.decode())


def _flat(html: str) -> str:
    return re.sub(r"\s+", " ", looking.Markup(html).text)
