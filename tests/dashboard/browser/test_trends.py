"""The large charts in a browser: drawn under the CSP, one cursor, a zoom that stays, same words."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import factories, factory_figures
from tests.dashboard import scene
from tests.dashboard.browser.conftest import Open

pytestmark = pytest.mark.django_db(transaction=True)
KEYS = ("throughput", "durations", "shares")


def _over(page: Page, key: str = "throughput") -> Locator:
    return page.locator(f"#plot-{key} .u-over")


def _open(open_page: Open, path: str = "/", **options: object) -> Page:
    page = open_page(path, **options)
    page.locator("[data-live]").click()  # paused: the test itself says when it is read again
    for key in KEYS:
        expect(page.locator(f"#plot-{key} canvas")).to_have_count(1)
    _over(page).scroll_into_view_if_needed()
    return page


def _refresh(page: Page) -> None:
    """Read the charts again, and wait until they are drawn."""
    with page.expect_response(
        lambda response: response.request.headers.get("hx-target", "").endswith("#trends")
    ):
        page.evaluate("document.getElementById('trends').dispatchEvent(new Event('trends:tick'))")
    expect(page.locator("#trends")).not_to_have_class(re.compile("htmx-request"))


def _zoom(page: Page) -> None:
    _over(page).scroll_into_view_if_needed()
    box = _over(page).bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.25, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, y, steps=4)
    page.mouse.move(box["x"] + box["width"] * 0.5, y, steps=4)
    page.mouse.up()


def _picture(page: Page, key: str) -> bytes:
    page.mouse.move(0, 0)
    return page.locator(f"#plot-{key}").screenshot()


def _texts(page: Page, key: str) -> list[str]:
    return page.locator(f"#trend-{key} [data-value]").all_inner_texts()


def test_the_charts_are_drawn_in_place_of_the_servers_pictures(open_page: Open) -> None:
    scene.fill()
    page = _open(open_page)  # any console message or CSP report fails it
    for key in KEYS:
        expect(page.locator(f"#trend-{key} .still")).to_be_hidden()
        ink = page.locator(f"#plot-{key} canvas").evaluate(
            "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)"
            ".data.filter((value, at) => at % 4 === 3 && value > 0).length"
        )
        assert ink > 500, key


def test_one_cursor_is_in_all_three(open_page: Open) -> None:
    scene.fill()
    page = _open(open_page)
    box = _over(page, "durations").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
    moment = page.locator("#trend-durations [data-moment]")
    expect(moment).not_to_be_empty()
    for key in KEYS:
        expect(page.locator(f"#trend-{key} [data-moment]")).to_have_text(moment.inner_text())
        line = page.locator(f"#plot-{key} .u-cursor-x").bounding_box()
        assert line
        assert line["x"] == pytest.approx(box["x"] + box["width"] * 0.5, abs=2)


def test_what_is_drawn_is_what_the_table_says(open_page: Open) -> None:
    scene.fill()
    page = _open(open_page)
    box = _over(page).bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
    expect(page.locator("#trend-throughput [data-moment]")).not_to_be_empty()
    said = page.locator("#trend-throughput [data-moment]").inner_text()
    shown = {key: _texts(page, key) for key in KEYS}
    for key in KEYS:
        rows = page.locator(f"#trend-table-{key} tbody tr").evaluate_all(
            "all => all.map(row => [...row.cells].map(cell => cell.textContent))"
        )
        (row,) = [row for row in rows if row[0] == said]
        assert row[1 : len(shown[key]) + 1] == shown[key]


def test_a_zoom_is_the_same_in_all_and_survives_a_refresh(open_page: Open) -> None:
    rows = scene.fill()
    page = _open(open_page)
    whole = page.locator("[data-whole]")
    expect(whole).to_be_hidden()
    before = _picture(page, "shares")
    _zoom(page)
    expect(whole).to_be_visible()
    zoomed = _picture(page, "shares")
    assert zoomed != before, "the third chart follows the first"
    canvas = page.locator("#plot-throughput canvas").element_handle()
    factory_figures.counters(rows.payments, name="received", label="new", value=7)
    _refresh(page)
    expect(whole).to_be_visible()
    assert canvas.evaluate("one => one.isConnected"), "the chart was not made anew"
    assert _picture(page, "shares") == zoomed
    whole.click()
    expect(whole).to_be_hidden()


def test_a_refresh_brings_new_values_under_a_resting_pointer(open_page: Open) -> None:
    rows = scene.fill()
    page = _open(open_page)
    box = _over(page).bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + 60)
    expect(page.locator("#trend-throughput [data-moment]")).to_contain_text("not over yet")
    before = _texts(page, "throughput")
    factory_figures.counters(rows.payments, name="received", label="new", value=90_000)
    _refresh(page)
    expect(page.locator("#trend-throughput [data-value]").first).not_to_have_text(before[0])
    expect(page.locator("#trend-throughput [data-moment]")).to_contain_text("not over yet")


def test_what_happened_is_told_by_focus_and_by_pointer(open_page: Open) -> None:
    scene.fill()
    factory_figures.deploy("41")
    factory_figures.deploy("42")
    page = _open(open_page)
    mark = page.locator("#plot-throughput .mark").last
    tip = mark.locator(".tip")
    expect(tip).to_contain_text("Deploy of 42, before it 41")
    expect(tip).to_be_hidden()
    mark.locator("rect").hover()
    expect(tip).to_be_visible()
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    mark.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(tip).to_be_visible()
    _refresh(page)
    expect(mark).to_be_focused()


def test_without_a_script_there_are_pictures_and_tables(open_page: Open) -> None:
    scene.fill()
    page = open_page("/?range=6h", java_script_enabled=False)
    for key in KEYS:
        expect(page.locator(f"#trend-{key} .still")).to_be_visible()
        expect(page.locator(f"#trend-{key} tbody tr").first).to_be_hidden()
        page.locator(f"#trend-table-{key} summary").click()
        expect(page.locator(f"#trend-{key} tbody tr").first).to_be_visible()
    page.get_by_role("link", name="24 h").click()
    expect(page.locator("#trend-throughput tbody tr")).to_have_count(96)


def test_dark_and_light_have_their_own_colours(open_page: Open) -> None:
    scene.fill()
    page = _open(open_page)
    light = _picture(page, "throughput")
    page.locator("[data-theme-toggle]").click()
    assert _picture(page, "throughput") != light


def test_a_consumer_has_its_charts_too(open_page: Open) -> None:
    rows = scene.fill()
    _open(open_page, f"/consumers/{rows.payments}/")


def test_an_inbox_without_any_figure_is_drawn_too(open_page: Open) -> None:
    factories.consumer()
    _open(open_page, "/?range=7d")
