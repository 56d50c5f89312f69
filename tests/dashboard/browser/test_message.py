"""The page of a message in hands: its tree, its reveal, its command lines."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests import factories
from tests.dashboard.browser.conftest import Open
from tests.rows import one, run

pytestmark = pytest.mark.django_db(transaction=True)
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
SECRET = "s3cr3t-0123456789"  # noqa: S105 - of these tests
EVIL = '"><img src=x onerror=alert(1)>\u202e'
BODY = {
    "amount": 12345678901234567890123,
    "deep": {"er": {"est": {"found": EVIL}}},
    EVIL: [1.5, {"password": SECRET}],
}


def _message(state: str = "dead") -> int:
    return factories.message(factories.consumer(), state=state, payload=json.dumps(BODY))


def _node(page: Page, name: str) -> str:
    """The id of the node of that name."""
    found = page.locator(f"details.node:has(> summary .node-name:text-is('{name}'))")
    return str(found.first.get_attribute("id"))


def test_the_tree_folds_without_script(open_page: Open) -> None:
    page = open_page(f"/messages/{_message()}/", java_script_enabled=False)
    tree = page.locator(".tree")
    expect(tree).to_contain_text("12345678901234567890123")
    expect(tree.get_by_text("found", exact=True)).to_be_hidden()
    page.locator(f"#{_node(page, 'er')} > summary").click()
    page.locator(f"#{_node(page, 'est')} > summary").click()
    expect(tree.get_by_text("found", exact=True)).to_be_visible()
    expect(tree.get_by_text('"\\"><img src=x onerror=alert(1)>\\u202e"')).to_be_visible()
    expect(page.locator("#live img")).to_have_count(0)
    page.locator("#payload-raw > summary").click()
    expect(page.locator("#payload")).to_contain_text('"amount": 12345678901234567890123')


def test_what_was_opened_stays_open_when_the_page_reads_itself_again(open_page: Open) -> None:
    number = _message()
    page = open_page(f"/messages/{number}/")
    opened, closed = _node(page, "er"), _node(page, "deep")
    page.locator(f"#{opened} > summary").click()
    page.locator(f"#{_node(page, 'est')} > summary").click()
    page.locator("#payload-raw > summary").click()
    page.locator("#commands > summary").click()
    run("UPDATE comboio_dead SET error = 'it changed' WHERE id = %(i)s", i=number)
    expect(page.locator(".error-text")).to_contain_text("it changed")
    expect(page.get_by_text("found", exact=True)).to_be_visible()
    expect(page.locator("#payload")).to_be_visible()
    expect(page.locator("#command-1")).to_be_visible()
    page.locator(f"#{closed} > summary").click()
    run("UPDATE comboio_dead SET error = 'once more' WHERE id = %(i)s", i=number)
    expect(page.locator(".error-text")).to_contain_text("once more")
    expect(page.locator(f"#{opened}")).to_be_hidden()


@pytest.mark.parametrize("has_script", [True, False])
def test_one_click_reveals_and_the_next_page_hides_again(
    open_page: Open, *, has_script: bool
) -> None:
    number = _message()
    page = open_page(f"/messages/{number}/", java_script_enabled=has_script)
    expect(page.locator("#payload")).not_to_contain_text(SECRET)
    page.get_by_label("Reason (optional)").fill("ticket 7")
    page.get_by_role("button", name="Reveal", exact=True).click()
    expect(page.get_by_role("heading", name="Revealed")).to_be_visible()
    expect(page.locator("main")).to_contain_text(SECRET)
    expect(page.locator("main img")).to_have_count(0)
    expect(page.locator("[data-live]")).to_be_hidden()
    page.get_by_role("link", name="Back", exact=True).click()
    expect(page.locator("#payload")).not_to_contain_text(SECRET)
    expect(page.locator(".timeline")).to_contain_text("Payload revealed")
    assert one("SELECT reason FROM comboio_audit WHERE verb = 'reveal'") == "ticket 7"


def test_a_command_line_is_copied_with_one_click(open_page: Open) -> None:
    number = _message()
    page = open_page(f"/messages/{number}/", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#commands > summary").click()
    page.get_by_role("button", name="Copy: Requeue").click()
    seen = one("SELECT version FROM comboio_dead")
    wanted = f"./manage.py requeue {number} --seen {seen} --as senior-0"
    assert page.evaluate("getSelection().toString()").strip() == wanted
    assert page.evaluate("navigator.clipboard.readText()") == wanted


def test_nothing_scrolls_sideways_on_a_phone(open_page: Open) -> None:
    page = open_page(f"/messages/{_message()}/", **PHONE)
    page.locator("#payload-raw > summary").tap()
    page.locator("#commands > summary").tap()
    scrolls = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not page.evaluate(scrolls)
    page.get_by_role("button", name="Reveal", exact=True).tap()
    expect(page.get_by_role("heading", name="Revealed")).to_be_visible()
    assert not page.evaluate(scrolls)
