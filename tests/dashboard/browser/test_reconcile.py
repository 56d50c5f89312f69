"""A charge without a known outcome is settled with evidence, in three clicks at most."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests import factories, factory_effects, factory_figures
from tests.dashboard import looking
from tests.dashboard.browser.conftest import Open

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def doubted(owner: int) -> int:
    """A charge in doubt whose provider can be asked, and knows it; its message."""
    number, _effect = factory_effects.in_doubt(owner, key="charge-0077")
    factories.message(owner, session="acc-1")
    factory_figures.snapshot()
    return number


def test_an_unknown_charge_is_settled_in_three_clicks(open_page: Open, doubted: int) -> None:
    page = open_page("/", "operator")
    page.get_by_role("link", name="Nobody knows whether “charge”").click()
    page.wait_for_url("**/reconcile/*/")
    expect(page.get_by_text("TimeoutError: no answer within 5 s").first).to_be_visible()
    page.get_by_role("button", name="Ask the provider").click()
    expect(page.locator(".toast")).to_contain_text("is done, says the provider: ch_42")
    expect(page.get_by_text("The provider, asked by operator-0: it happened")).to_be_visible()
    expect(page.get_by_text("ch_42").first).to_be_visible()
    expect(page.get_by_text("It is never called again.")).to_be_visible()
    assert looking.state(doubted) == "ready"


def test_the_same_works_from_the_list_without_script(open_page: Open, doubted: int) -> None:
    page = open_page("/reconcile/", "operator", java_script_enabled=False)
    page.get_by_role("button", name="Ask the provider").click()
    expect(page.locator(".notice[role=status]")).to_contain_text("is done, says the provider")
    expect(page.get_by_text("No effect in doubt")).to_be_visible()
    assert looking.state(doubted) == "ready"


def test_a_person_decides_with_a_reference(open_page: Open, doubted: int) -> None:
    page = open_page("/reconcile/")
    page.get_by_role("link", name="Decide").click()
    page.locator("summary", has_text="Mark done").click()
    page.get_by_label("Reference at the provider").fill("ch_by_hand")
    page.locator(".ask[open]").get_by_label("Reason").fill("saw it in their console")
    page.locator(".ask[open] form button").click()
    expect(page.locator(".toast")).to_contain_text("is marked done")
    expect(page.get_by_text("saw it in their console")).to_be_visible()
    assert looking.state(doubted) == "ready"
