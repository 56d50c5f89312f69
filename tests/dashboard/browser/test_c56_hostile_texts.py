"""Case C56: a text that would be markup, script or template is a text on every page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from dashboard import camera
from tests import factories
from tests.dashboard import hostile_scene
from tests.dashboard.browser.conftest import Open
from tests.dashboard.scene import HOSTILE

pytestmark = pytest.mark.django_db(transaction=True)

TEXTS = (*HOSTILE, "\u2066<b>\u2069\u200f'`--><!--")
# Not of ours: elements and attributes that only a text could have brought in.
_INTRUDERS = """() => [...document.querySelectorAll(
    "main img, main script:not([type='application/json']), main iframe, main b, [onload],"
    + " [onerror], a[href^='javascript:' i], #toasts img, #toasts script")]
  .map((one) => one.outerHTML.slice(0, 200))"""
# What would turn round or hide a text, wherever it is shown; fields keep it, for it is sent again.
_UNSEEN = """() => {
  const bad = /[\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]/u;
  const copy = document.body.cloneNode(true);
  for (const field of copy.querySelectorAll("textarea, script")) field.remove();
  const told = [copy.textContent, document.title];
  for (const one of copy.querySelectorAll("*")) {
    for (const name of ["title", "aria-label"]) told.push(one.getAttribute(name) ?? "");
  }
  return told.filter((text) => bad.test(text)).map((text) => text.slice(0, 200));
}"""
_NAMED = ("/messages/", "/mismatches/", "/reconcile/", "/sessions/", "/consumers/", "/requeues/")


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_shown_literally_on_every_page_and_runs_on_none(text: str, open_page: Open) -> None:
    details = hostile_scene.fill(text)
    page = open_page("/", name=text[:150])
    page.evaluate("sessionStorage.setItem('paused', '1')")
    shown = _shown(text)
    expect(page.locator(".user-name")).to_have_text(shown)
    for path in [*(address for _name, address in camera.LISTS), *details]:
        page.goto(path)
        assert page.evaluate(_INTRUDERS) == [], path
        assert page.evaluate(_UNSEEN) == [], path
        if path in details and path.startswith(_NAMED):
            assert shown in (page.locator("main").text_content() or ""), path


@pytest.mark.parametrize("text", TEXTS)
def test_it_can_be_searched_for_and_given_as_a_reason(text: str, open_page: Open) -> None:
    owner = factories.consumer()
    number = factories.message(owner, state="dead", key=text, session="")
    page = open_page("/", name=text[:150])
    page.locator("[data-finder]").fill(text)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/messages/{number}/")
    page.locator("summary", has_text="Discard").first.click()
    page.locator(".ask[open] input[name=reason]").fill(text)
    page.locator(".ask[open] form button").click()
    expect(page.locator(".toast")).to_be_visible()
    _is_clean(page)
    page.goto("/audit/")
    expect(page.locator("main")).to_contain_text(_shown(text))
    _is_clean(page)
    page.goto("/audit/")
    page.get_by_role("textbox", name="Person").fill(text)
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("textbox", name="Person")).to_have_value(text)
    _is_clean(page)


def _is_clean(page: Page) -> None:
    assert page.evaluate(_INTRUDERS) == []
    assert page.evaluate(_UNSEEN) == []


def _shown(text: str) -> str:
    """As a person reads it: what turns round or hides is written out."""
    return "".join(
        f"\\u{ord(each):04x}" if each in "\u200f\u202e\u2066\u2069" else each for each in text
    )
