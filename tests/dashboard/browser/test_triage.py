"""Triage by keyboard alone: go there, move, select, open, snooze; and without script."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests import factories, factory_triage
from tests.dashboard.browser.conftest import Open
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_group_is_selected_taken_opened_and_snoozed_by_keyboard(open_page: Open) -> None:
    owner = factories.consumer(name="payments")
    for cause in ("a", "b"):
        factory_triage.alert(owner, cause=cause)
    page = open_page("/", "operator")
    _press(page, "g", "t")
    page.wait_for_url("**/triage/")
    _press(page, "j", "j", "k", "x")
    expect(page.get_by_role("button", name="Take the selected groups")).to_be_visible()
    page.locator("#pick-button").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("You look after 1 group now")
    assert rows("SELECT owner FROM comboio_triage") == [("operator-0",)]
    page.reload()
    _press(page, "j", "s")
    expect(page.locator("[data-snooze]").first).to_be_focused()
    _press(page, "k", "o")
    page.wait_for_url("**/triage/*/")
    _press(page, "s", "Enter", "Tab")
    expect(page.get_by_label("Sleep", exact=True)).to_be_focused()
    page.locator(".ask[open] form button").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".toast").last).to_contain_text("Snoozed until")
    assert one("SELECT count(*) FROM comboio_triage WHERE snoozed_until > now()") == 1


def _press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_note_that_is_being_typed_stays_while_the_page_reads_itself_again(
    open_page: Open,
) -> None:
    number = factory_triage.alert(factories.consumer())
    page = open_page(f"/triage/{number}/", "operator")
    page.locator("summary", has_text="Write note").click()
    page.get_by_label("Note", exact=True).fill("half a sen")
    run("UPDATE comboio_alert SET count = 41")
    page.evaluate("document.body.dispatchEvent(new CustomEvent('app:tick'))")
    expect(page.locator(".facts").first).to_contain_text("41")
    expect(page.get_by_label("Note", exact=True)).to_have_value("half a sen")
    page.locator(".ask[open] form button").click()
    expect(page.locator(".note-text")).to_have_text("half a sen")


def test_take_note_and_snooze_work_without_script(open_page: Open) -> None:
    number = factory_triage.alert(factories.consumer())
    page = open_page(f"/triage/{number}/", "operator", java_script_enabled=False)
    page.get_by_role("button", name="Take").click()
    expect(page.locator(".notice[role=status]")).to_contain_text("You look after it now")
    page.locator("summary", has_text="Write note").click()
    page.get_by_label("Note", exact=True).fill("the gateway is away")
    page.locator(".ask[open] form button").click()
    expect(page.locator(".note-text")).to_have_text("the gateway is away")
    page.locator("summary", has_text="Snooze").click()
    page.get_by_label("Sleep", exact=True).select_option("morning")
    page.locator(".ask[open] form button").click()
    expect(page.get_by_role("button", name="Wake")).to_be_visible()
    assert one("SELECT owner FROM comboio_triage") == "operator-0"
