"""C20 in a browser: odd sessions can be clicked, and nothing in its name executes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests import factories, factory_figures
from tests.dashboard.browser.conftest import Open

CLICKED = (" ", "..", "%2F", "<img src=x onerror=alert(1)>")

pytestmark = pytest.mark.django_db(transaction=True)


def test_each_opens_by_a_click_with_its_three_messages(open_page: Open) -> None:
    owner = factories.consumer()
    for _turn in range(3):
        for session in CLICKED:
            factories.message(owner, session=session)
    factory_figures.snapshot()
    page = open_page("/sessions/")
    links = page.locator("tr[id^=session-] .main-cell a")
    expect(links).to_have_count(len(CLICKED))
    for place in range(len(CLICKED)):
        links.nth(place).click()
        page.wait_for_url(re.compile(r"/sessions/\d+/$"))
        expect(page.locator("[id^=message-]")).to_have_count(3)
        assert page.locator("#live img, #live script, #live [onerror]").count() == 0
        page.go_back()
        page.wait_for_url("**/sessions/")
