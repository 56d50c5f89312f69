"""Tab alone reaches everything that the pointer can press, in reading order, and one sees where."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.dashboard import scene
from tests.dashboard.browser.conftest import Open

pytestmark = pytest.mark.django_db(transaction=True)

# What can be pressed or typed into: each with its place, its block and how it looks without focus.
_LIST = """() => {
  const look = (one) => {
    const style = getComputedStyle(one);
    const frame = one.querySelector(":scope > rect");  // of a flag in a chart
    return style.outlineStyle + style.outlineWidth + style.boxShadow
      + (frame && getComputedStyle(frame).strokeWidth);
  };
  const all = [...document.querySelectorAll("a[href], button, summary, input, select, textarea")];
  const isShown = (one) => one.checkVisibility({visibilityProperty: true});
  window.stops = all.filter((one) => !one.disabled && one.type !== "hidden" && isShown(one)
    && one.getClientRects().length);
  window.plain = window.stops.map(look);
  window.look = look;
  const blocks = [...document.querySelectorAll(".card, .bar, .rail, .filters")];
  return window.stops.map((one) => {
    const box = one.getBoundingClientRect();
    return {name: (one.innerText || one.ariaLabel || one.name || one.tagName).trim().slice(0, 60),
      block: blocks.findLastIndex((each) => each.contains(one)),
      left: box.left, top: box.top + scrollY, bottom: box.bottom + scrollY};
  });
}"""
_HERE = """() => {
  const one = document.activeElement;
  const at = window.stops.indexOf(one);
  const isSeen = at < 0 || window.look(one) !== window.plain[at];
  return {at, isBody: one === document.body, isSeen};
}"""


def _pages(rows: scene.Scene) -> list[str]:
    return [
        "/",
        "/dead-letters/",
        "/sessions/",
        f"/sessions/{rows.held_session}/",
        f"/sessions/{rows.gap_session}/",
        "/mismatches/",
        f"/mismatches/{rows.mismatch}/",
        "/reconcile/",
        f"/reconcile/{rows.effect}/",
    ]


def test_tab_finds_every_button_in_reading_order_with_a_ring(open_page: Open) -> None:
    rows = scene.fill()
    page = open_page("/", reduced_motion="reduce")
    page.evaluate("sessionStorage.setItem('paused', '1')")
    for path in _pages(rows):
        page.goto(path)
        stops: list[dict[str, Any]] = page.evaluate(_LIST)
        walked, unseen = _walk(page, len(stops))
        names = [stop["name"] for stop in stops]
        assert [names[at] for at in range(len(stops)) if at not in walked] == [], path
        assert [names[at] for at in unseen] == [], path
        assert walked == sorted(walked), path
        assert _backwards([stops[at] for at in walked]) == [], path


def _walk(page: Page, count: int) -> tuple[list[int], list[int]]:
    """The stops in the order in which Tab reaches them, and those whose focus does not show."""
    walked: list[int] = []
    unseen: list[int] = []
    for _press in range(2 * count + 20):
        page.keyboard.press("Tab")
        here = page.evaluate(_HERE)
        if here["isBody"] or here["at"] in walked:
            break
        if here["at"] >= 0:  # else a box that scrolls, which Chromium lets the keyboard reach
            walked.append(here["at"])
            if not here["isSeen"]:
                unseen.append(here["at"])
    return walked, unseen


def _backwards(stops: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Neighbours of a block where the second stands above the first, or left of it in its line."""
    found = []
    for first, second in pairwise(stops):
        if first["block"] != second["block"]:
            continue
        is_above = second["bottom"] <= first["top"]
        is_same_line = second["top"] < first["bottom"] and first["top"] < second["bottom"]
        if is_above or (is_same_line and second["left"] < first["left"] - 1):
            found.append((first["name"], second["name"]))
    return found
