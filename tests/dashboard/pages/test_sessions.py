"""Sessions: the list, odd keys, the train with its blocker."""

from __future__ import annotations

import pytest
from django.test import Client

from tests import factories, factory_figures
from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import one

pytestmark = pytest.mark.django_db
ODD = (
    " ",
    "a/b",
    "..",
    "%2F",
    "<img src=x onerror=alert(1)>",
    "👩\u200d👩\u200d👧\u200d👦",
    "x" * 128,
    "?a=b&c#d",
)


@pytest.mark.parametrize("key", ODD)
def test_an_odd_key_has_a_page_with_exactly_its_messages(key: str, senior: Client) -> None:
    owner = factories.consumer()
    numbers = [factories.message(owner, session=key, sequence=at) for at in (1, 2, 3)]
    factories.message(owner, session="another")
    factory_figures.snapshot()
    session = one("SELECT session FROM comboio_message WHERE id = %(id)s", id=numbers[0])
    assert f'href="/sessions/{session}/"' in senior.get("/sessions/").content.decode()
    response = senior.get(f"/sessions/{session}/")
    assert response.status_code == 200
    html = response.content.decode()
    assert html.count('class="car"') == 3
    assert all(f"/messages/{number}/" in html for number in numbers)
    assert looking.Markup(html).inline == []


def test_the_blocker_is_marked_and_what_waits_is_parked(viewer: Client, filled: Scene) -> None:
    html = viewer.get(f"/sessions/{filled.held_session}/").content.decode()
    assert f"Held by its dead head, message {filled.dead_head}." in html
    assert html.count("data-blocker") == 1
    assert html.count('class="car" data-row data-state="parked"') == 14


def test_only_blocked_sessions_are_listed_on_demand(viewer: Client, filled: Scene) -> None:
    html = viewer.get("/sessions/?show=blocked").content.decode()
    assert "acc-4711" in html
    assert "acc-100" not in html


def test_no_backlog_is_good_news(viewer: Client) -> None:
    assert "No session waits" in viewer.get("/sessions/").content.decode()


def test_a_message_without_session_is_no_session_of_the_list(senior: Client) -> None:
    owner = factories.consumer()
    alone = factories.message(owner, session="")
    factories.message(owner, session="acc-1")
    factory_figures.snapshot()
    text = senior.get("/sessions/").content.decode()
    assert "acc-1" in text
    assert str(-alone) not in text
