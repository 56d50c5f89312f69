"""The verdict's button is really pressed, for each of the seeded faults, and mends it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests import factory_figures
from tests.dashboard.browser.conftest import Open
from tests.dashboard.conftest import OWNER
from tests.dashboard.seeded_faults import FAULTS, Fault
from tests.watching import watched_for

pytestmark = pytest.mark.django_db(transaction=True)
START = 300


@pytest.mark.parametrize("name", FAULTS)
def test_its_button_is_named_by_the_first_words_and_mends_the_fault(
    name: str, open_page: Open, owner: int
) -> None:
    fault = FAULTS[name]
    fault.make(owner)
    factory_figures.snapshot()
    page = open_page("/")
    start = _start(page)
    for part in (OWNER, fault.cause, "since", fault.button):
        assert part in start
    with watched_for(60):
        _press(page, fault)
        expect(page.locator(".toast[data-tone=go], .notice[role=status]").first).to_be_visible()
    page.goto("/")
    assert fault.cause not in _start(page)


def _start(page: Page) -> str:
    """What stands first on the page, as it is read."""
    return " ".join(page.locator(".verdict").first.inner_text().split())[:START]


def _press(page: Page, fault: Fault) -> None:
    """The button, what it asks for, and the button that confirms it."""
    verdict = page.locator(".card.verdict")
    target = verdict.locator("button:visible, summary, a.button", has_text=fault.button).first
    target.click()
    if fault.typed:
        ask = page.locator(".verdict .ask[open]")
        ask.get_by_label("Reason").fill(fault.typed["reason"])
        ask.locator("form button").click()
    elif fault.button.endswith("…"):
        page.wait_for_url("**/requeues/plan/**")
        page.get_by_role("button", name=re.compile("^Requeue all")).click()
