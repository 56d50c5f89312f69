"""What is true of every page: it answers, reads only, allows no inline code, and is not kept."""

from __future__ import annotations

import re

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import URLPattern

from tests.dashboard import looking
from tests.dashboard.scene import HOSTILE, Scene

pytestmark = pytest.mark.django_db
PAGES = [each for each in looking.patterns() if not looking.is_verb(each)]


def _name(pattern: URLPattern) -> str:
    return str(pattern.name)


@pytest.mark.parametrize("pattern", PAGES, ids=_name)
@pytest.mark.parametrize("headers", [{}, looking.PIECE], ids=["page", "piece"])
def test_a_page_reads_only_and_is_strict(
    pattern: URLPattern, headers: dict[str, str], senior: Client, filled: Scene
) -> None:
    before = looking.everything()
    response = senior.get(looking.address(pattern, filled), headers=headers)
    assert response.status_code in (200, 302)
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "no-store" in response["Cache-Control"]
    if response["Content-Type"].startswith("text/html"):
        assert looking.Markup(response.content.decode()).inline == []
    assert looking.everything() == before


@pytest.mark.parametrize("pattern", PAGES, ids=_name)
def test_an_empty_database_has_words_for_it(pattern: URLPattern, senior: Client) -> None:
    if "<" in str(pattern.pattern):
        assert senior.get(looking.address(pattern), follow=True).status_code == 404
        return
    response = senior.get(looking.address(pattern))
    assert response.status_code == 200
    assert "None" not in looking.Markup(response.content.decode()).text


@pytest.mark.parametrize("number", ["9223372036854775808", "99999999999999999999", "x", "-1"])
def test_an_id_that_cannot_be_is_not_found(number: str, senior: Client) -> None:
    for noun in ("messages", "sessions", "mismatches", "alerts", "consumers", "reconcile"):
        assert senior.get(f"/{noun}/{number}/").status_code == 404


def test_a_piece_is_the_live_part_only(senior: Client, filled: Scene) -> None:
    html = senior.get("/sessions/", headers=looking.PIECE).content.decode()
    assert "<html" not in html
    assert 'class="rail"' not in html
    assert "acc-4711" in html
    assert 'hx-target=".tally-alerts"' in html


def test_a_message_is_shown_once_by_the_page_and_never_by_a_piece(
    senior: Client, filled: Scene
) -> None:
    url = f"/dead-letters/{filled.dead}/requeue/"
    version = looking.seen(senior, f"/messages/{filled.dead}/", url)
    senior.post(url, {"seen": version, "next": "/dead-letters/"})
    told = f"Message {filled.dead} is ready again"
    assert told not in senior.get("/dead-letters/", headers=looking.PIECE).content.decode()
    assert told in senior.get("/dead-letters/").content.decode()
    assert told not in senior.get("/dead-letters/").content.decode()


@pytest.mark.parametrize("path", ["/dead-letters/", "/messages/", "/alerts/", "/sessions/", "/"])
def test_hostile_texts_stay_texts(path: str, senior: Client, filled: Scene) -> None:
    markup = looking.Markup(senior.get(path).content.decode())
    assert markup.inline == []
    assert "\u202e" not in markup.text
    assert "49" not in markup.texts[0]
    if path in ("/dead-letters/", "/messages/"):
        assert all(text.replace("\u202e", "\\u202e") in markup.text for text in HOSTILE)


def test_a_damaged_page_link_is_refused_in_words(senior: Client) -> None:
    response = senior.get("/messages/?page=%F0%9F%9A%82")
    assert response.status_code == 400
    assert "open the list from its start" in response.content.decode()


@pytest.mark.parametrize(
    "query", ["q=%00", "q=" + "x" * 5000, "consumer=99999", "state=%00", "page="]
)
def test_a_senseless_filter_is_no_error(query: str, senior: Client, filled: Scene) -> None:
    assert senior.get(f"/messages/?{query}").status_code == 200
    assert senior.get(f"/dead-letters/?{query}").status_code == 200


def test_numbers_in_markup_are_plain_where_numbers_for_people_are_grouped(
    senior: Client, filled: Scene, settings: LazySettings
) -> None:
    settings.USE_THOUSAND_SEPARATOR = True
    settings.LANGUAGES = [("en", "English"), ("de", "Deutsch")]
    html = senior.get(f"/sessions/{filled.held_session}/", headers={"Accept-Language": "de"})
    text = html.content.decode()
    assert f"/sessions/{filled.held_session}/hold/" in text
    for attribute in re.findall(r'(?:id|href|value|action|hx-post)="([^"]*)"', text):
        assert not re.search(r"\d[.\u202f\u00a0]\d{3}(?!\.)", attribute), attribute


def test_times_are_shown_in_the_viewers_zone_with_their_offset(
    senior: Client, filled: Scene
) -> None:
    senior.cookies["tz"] = "Asia/Kolkata"
    html = senior.get(f"/messages/{filled.done}/").content.decode()
    assert "+05:30" in html
    senior.cookies["tz"] = "../../etc/passwd"
    assert "+00:00" in senior.get(f"/messages/{filled.done}/").content.decode()
