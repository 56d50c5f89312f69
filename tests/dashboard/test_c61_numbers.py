"""Case C61, localised numbers: people read grouped ones, machines plain ones, on every page."""

from __future__ import annotations

import re

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import URLPattern

from tests.dashboard import looking, scene
from tests.rows import one, run

pytestmark = pytest.mark.django_db
LANGUAGES = ("de", "fr", "sv", "ar")
PAGES = [each for each in looking.patterns() if not looking.is_verb(each)]
# What a browser, htmx or a script reads. A grouped number is digits with a sign between them.
ATTRIBUTES = r"(?:id|href|value|action|hx-post|hx-get|name|for|x|y|width|height|d|points|datetime)"
GROUPED = re.compile(r"\d[.,'\u2019\u00a0\u202f\u066c]\d{3}(?!\d)")


@pytest.fixture
def far(settings: LazySettings) -> scene.Scene:
    """Rows whose ids have seven digits, in a console that groups numbers."""
    settings.USE_THOUSAND_SEPARATOR = True
    settings.LANGUAGES = [(each, each) for each in ("en", *LANGUAGES)]
    run("SELECT setval('comboio_message_id', 1234566)")
    return scene.fill()


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_for_machines_are_plain_on_every_page(
    language: str, senior: Client, far: scene.Scene
) -> None:
    for pattern in PAGES:
        html = _page(senior, pattern, far, language)
        for name, value in re.findall(rf' ({ATTRIBUTES})="([^"]*)"', html):
            plain = value if name in ("d", "points") else value.replace(".000", "")
            assert not GROUPED.search(plain) or name in ("d", "points", "datetime"), (name, value)


def test_a_verb_works_on_a_row_with_a_long_id(operator: Client, far: scene.Scene) -> None:
    page = f"/messages/{far.dead}/"
    html = operator.get(page, headers={"Accept-Language": "de"}).content.decode()
    url = f"/dead-letters/{far.dead}/requeue/"
    assert far.dead > 1_000_000
    assert f'action="{url}"' in html
    seen = looking.seen(operator, page, url)
    assert operator.post(url, {"seen": seen, "next": page}).status_code == 303
    assert looking.state(far.dead) == "ready"


def test_counts_for_people_are_grouped_in_their_way(senior: Client, far: scene.Scene) -> None:
    run("UPDATE comboio_consumer_snapshot SET backlog = 1234567")
    german = senior.get("/", headers={"Accept-Language": "de"}).content.decode()
    assert "1.234.567" in german
    assert "1234567" not in looking.Markup(german).text.replace("1.234.567", "")


def test_a_language_from_right_to_left_turns_the_page(senior: Client, far: scene.Scene) -> None:
    html = senior.get("/", headers={"Accept-Language": "ar"}).content.decode()
    assert '<html lang="ar" dir="rtl"' in html


def test_metrics_have_machine_numbers(client: Client, far: scene.Scene) -> None:
    text = client.get("/metrics", headers={"Accept-Language": "de"}).content.decode()
    for line in text.splitlines():
        if not line.startswith("#"):
            float(line.rsplit(" ", 1)[1])
    assert one("SELECT 1") == 1


def _page(client: Client, pattern: URLPattern, rows: scene.Scene, language: str) -> str:
    response = client.get(
        looking.address(pattern, rows), headers={"Accept-Language": language}, follow=True
    )
    assert response.status_code == 200
    is_html = response["Content-Type"].startswith("text/html")
    return response.content.decode() if is_html else ""
