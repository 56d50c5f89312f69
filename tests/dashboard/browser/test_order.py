"""Skip and replay by hand: with and without script, by keyboard; nothing typed is lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests import factory_order
from tests.dashboard import looking, scene
from tests.dashboard.browser.conftest import Open
from tests.rows import one, run

pytestmark = pytest.mark.django_db(transaction=True)


def _refresh(page: Page) -> None:
    with page.expect_response(lambda response: "hx-target" in response.request.headers):
        page.evaluate("document.body.dispatchEvent(new CustomEvent('app:tick'))")


def test_a_gap_is_skipped_and_the_page_goes_on(open_page: Open) -> None:
    rows = scene.fill()
    page = open_page(f"/sessions/{rows.gap_session}/")
    expect(page.locator("#car-gap")).to_contain_text("4\N{EN DASH}5")
    page.locator("summary", has_text="Skip numbers 4 to 5").click()
    page.keyboard.type("lost at the sender")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("without numbers 4 to 5")
    expect(page.locator("#car-gap")).to_have_count(0)
    expect(page.get_by_text("It runs.")).to_be_visible()


def test_two_quick_clicks_of_one_form_are_one_click(open_page: Open) -> None:
    rows = scene.fill()
    page = open_page(f"/sessions/{rows.gap_session}/", java_script_enabled=False)
    page.locator("summary", has_text="Skip numbers").click()
    page.get_by_label("Reason").first.fill("lost")
    page.locator(f"form[action$='{rows.gap_session}/skip-gap/'] button").dblclick()
    expect(page.locator(".notice[role=status]").first).to_be_visible()
    verb = "SELECT count(*) FROM comboio_audit WHERE verb = 'skip gap'"
    assert one(verb) == 1


def test_a_text_is_corrected_without_script_and_a_refusal_keeps_it(
    open_page: Open, said: list[str]
) -> None:
    rows = scene.fill()
    page = open_page(f"/messages/{rows.corrected}/", java_script_enabled=False)
    page.get_by_role("link", name="Correct and replay").click()
    page.get_by_label("What it shall run with").fill('{"mine": ')
    page.get_by_label("What you corrected").fill("cents")
    page.get_by_role("button", name="Replay with this text").click()
    expect(page.get_by_role("alert")).to_contain_text("The text is no JSON")
    expect(page.locator("#text")).to_have_value('{"mine": ')
    expect(page.locator("#reason")).to_have_value("cents")
    page.locator("#text").fill('{"mine": 1}')
    page.get_by_role("button", name="Replay with this text").click()
    expect(page.locator(".notice[role=status]")).to_contain_text("runs again, corrected")
    assert looking.state(rows.corrected) == "ready"
    assert [text for text in said if "422" not in text] == []
    said.clear()


def test_a_refresh_tells_of_a_colleague_and_leaves_the_box_alone(
    open_page: Open, said: list[str]
) -> None:
    rows = scene.fill()
    page = open_page(f"/messages/{rows.corrected}/correct/")
    page.locator("#text").fill('{"mine": 1}')
    page.keyboard.press("Tab")
    page.keyboard.type("cents")
    factory_order.revision(rows.corrected, '{"theirs": 2}', number=3, actor="olga")
    run("DELETE FROM comboio_dead WHERE id = %(i)s", i=rows.corrected)
    _refresh(page)
    expect(page.locator("#live")).to_contain_text("is dead no more")
    expect(page.locator("#live")).to_contain_text("olga made revision 3")
    expect(page.locator("#text")).to_have_value('{"mine": 1}')
    page.keyboard.press("Enter")
    expect(page.locator("#other")).to_have_text('{"theirs": 2}')
    expect(page.locator("#text")).to_have_value('{"mine": 1}')
    _refresh(page)  # of the page that a POST gave: it reads the editor's address, not the verb's
    assert [text for text in said if "409" not in text] == []
    said.clear()
