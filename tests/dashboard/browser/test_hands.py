"""Hands on the console: keyboard only, without script, on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from dashboard import camera
from tests.dashboard import looking, scene
from tests.dashboard.browser.conftest import Open

pytestmark = pytest.mark.django_db(transaction=True)
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


def test_a_dead_message_is_requeued_by_keyboard_alone(open_page: Open) -> None:
    rows = scene.fill()
    page = open_page("/dead-letters/")
    page.keyboard.press("g")
    page.keyboard.press("d")
    page.wait_for_url("**/dead-letters/")
    link = page.locator(f"#dead-{rows.dead} .main-cell a")
    for _press in range(40):
        page.keyboard.press("j")
        if link.evaluate("one => one === document.activeElement"):
            break
    expect(link).to_be_focused()
    page.keyboard.press("x")
    expect(page.locator(f"#pick-{rows.dead}")).to_be_checked()
    page.keyboard.press("r")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("ready again")


def test_the_keyboard_list_opens_and_keys_can_be_switched_off(open_page: Open) -> None:
    page = open_page("/")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.get_by_label("Switch single keys off").check()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page.locator("[data-finder]")).not_to_be_focused()


def test_a_key_typed_into_a_field_is_text(open_page: Open) -> None:
    page = open_page("/")
    page.keyboard.press("/")
    page.keyboard.type("jxgd?")
    expect(page.locator("[data-finder]")).to_have_value("jxgd?")
    page.keyboard.press("Enter")
    page.wait_for_url("**/messages/?q=jxgd%3F")
    expect(page.get_by_text("No match")).to_be_visible()


def test_requeue_and_hold_work_without_script(open_page: Open) -> None:
    rows = scene.fill()
    page = open_page(f"/messages/{rows.dead}/", java_script_enabled=False)
    page.get_by_role("button", name=f"Requeue message {rows.dead}").click()
    expect(page.locator(".notice[role=status]")).to_contain_text("ready again")
    assert looking.state(rows.dead) == "ready"
    page.goto(f"/consumers/{rows.payments}/")
    page.locator(".ask summary").click()
    page.get_by_label("Reason").fill("maintenance")
    page.locator(".ask form button").click()
    expect(page.get_by_text("Held by senior-0")).to_be_visible()


def test_the_theme_is_kept(open_page: Open) -> None:
    page = open_page("/", color_scheme="light")
    page.locator("[data-theme-toggle]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_zone_switches_between_utc_and_the_viewers_own(open_page: Open) -> None:
    rows = scene.fill()
    page = open_page(f"/messages/{rows.done}/", timezone_id="Asia/Kolkata")
    expect(page.get_by_text("+00:00")).to_be_visible()
    page.locator("[data-zone]").click()
    expect(page.get_by_text("+05:30").last).to_be_visible()


def test_no_page_scrolls_sideways_on_a_phone(open_page: Open) -> None:
    rows = scene.fill()
    page = open_page("/", **PHONE)
    details = [
        f"/messages/{rows.dead}/",
        f"/messages/{rows.hostile[1]}/",
        f"/sessions/{rows.held_session}/",
        f"/mismatches/{rows.mismatch}/",
        f"/messages/{rows.doubted}/",
        f"/reconcile/{rows.effect}/",
        f"/sessions/{rows.doubted_session}/",
        f"/consumers/{rows.payments}/",
        f"/sessions/{rows.gap_session}/",
        f"/messages/{rows.corrected}/",
        f"/messages/{rows.corrected}/correct/",
        *(f"/triage/{number}/" for number in rows.groups),
    ]
    for path in [address for _name, address in camera.LISTS] + details:
        page.goto(path)
        assert _fits(page), path
        expect(page.locator(".bottom")).to_be_visible()


def test_every_page_can_be_reached_on_a_phone(open_page: Open) -> None:
    page = open_page("/", **PHONE)
    page.locator(".more summary").tap()
    page.locator(".more-sheet").get_by_text("Mismatches").tap()
    page.wait_for_url("**/mismatches/")


def _fits(page: Page) -> bool:
    return bool(
        page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    )
