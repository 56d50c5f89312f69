"""Sessions: the list, odd keys, the train with its blocker."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from monitor.domain import keys
from tests import factories, factory_effects, factory_figures, factory_order
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


def test_every_missing_number_is_a_gap_of_the_train(viewer: Client, filled: Scene) -> None:
    html = viewer.get(f"/sessions/{filled.gap_session}/").content.decode()
    assert re.findall(r'id="car-gap([^"]*)"', html) == ["", "-8", "-10"]
    train = looking.Markup(html[html.index('class="train"') :]).text
    assert "4\N{EN DASH}5" in train
    assert "10\N{EN DASH}11" in train


def test_a_number_that_was_given_up_is_no_gap(viewer: Client) -> None:
    owner = factory_order.numbered(name="orders.book")
    factory_order.message(owner, 1, state="done", session="s")
    number = factory_order.message(owner, 5, session="s")
    session = factory_order.session_of(number)
    factory_order.progress(session, expects=5)
    assert "car-gap" not in viewer.get(f"/sessions/{session}/").content.decode()


def test_the_lock_is_told_with_its_holder(viewer: Client) -> None:
    owner = factories.consumer()
    number = factories.message(owner)
    session = factory_order.session_of(number)
    path = f"/sessions/{session}/"
    assert "nobody works on it now" in viewer.get(path).content.decode()
    factory_figures.worker(process="child", ids=[number])
    text = looking.Markup(viewer.get(path).content.decode()).text
    assert f"child 7 on host-1 works on message {number}." in text
    assert f"It holds lane {keys.lane(owner, session)}" in text
    factory_effects.lease(number, slot=1)
    assert "under a lease" in viewer.get(path).content.decode()


def test_the_train_explains_its_signs(viewer: Client, filled: Scene) -> None:
    html = viewer.get(f"/sessions/{filled.held_session}/").content.decode()
    legend = looking.Markup(html[html.index('class="legend"') :]).text
    for word in ("done", "dead", "parked", "round-nosed: the head"):
        assert word in legend


def test_a_message_without_session_is_no_session_of_the_list(senior: Client) -> None:
    owner = factories.consumer()
    alone = factories.message(owner, session="")
    factories.message(owner, session="acc-1")
    factory_figures.snapshot()
    text = senior.get("/sessions/").content.decode()
    assert "acc-1" in text
    assert str(-alone) not in text
