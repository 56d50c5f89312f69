"""Case C55: Live refresh against a working hand: nothing that a person has begun is lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests import factories
from tests.dashboard import scene
from tests.dashboard.browser.conftest import Open
from tests.rows import one, run

pytestmark = pytest.mark.django_db(transaction=True)
ROW = "#live tr[id^=dead-]"


def _refresh(page: Page) -> None:
    """One refresh, waited for."""
    with page.expect_response(lambda response: "hx-target" in response.request.headers):
        page.evaluate("document.body.dispatchEvent(new CustomEvent('app:tick'))")
    expect(page.locator("#live")).not_to_have_class("htmx-request")


def test_ticks_focus_selection_and_open_details_survive_ten_refreshes(open_page: Open) -> None:
    rows = scene.fill()
    page = open_page("/dead-letters/")
    for place in (2, 4, 6):
        page.locator(f"{ROW} [name=pick]").nth(place).check()
    ask = page.locator(f"#dead-{rows.dead} .ask")
    ask.locator("summary").click()
    field = ask.locator("input[name=reason]")
    field.fill("half a sen")
    expect(field).to_be_focused()
    for number in range(10):
        factories.message(rows.payments, state="dead", session=f"new-{number}", error="New: error")
        _refresh(page)
    expect(page.get_by_text("New: error").first).to_be_visible()
    expect(page.locator("[name=pick]:checked")).to_have_count(3)
    expect(page.locator(f"{ROW} .ask[open]")).to_have_count(1)
    expect(field).to_be_focused()
    expect(field).to_have_value("half a sen")


def test_selected_text_stays_selected(open_page: Open) -> None:
    rows = scene.fill()
    page = open_page(f"/messages/{rows.done}/")
    page.locator("#payload-raw > summary").click()
    page.evaluate(
        "const range = document.createRange(); range.selectNodeContents(document.getElementById("
        "'payload')); getSelection().removeAllRanges(); getSelection().addRange(range);"
    )
    before = page.evaluate("getSelection().toString()")
    assert "amount_cents" in before
    factories.duplicate(rows.done)
    _refresh(page)
    expect(page.get_by_text("4 duplicates, absorbed")).to_be_visible()
    assert page.evaluate("getSelection().toString()") == before


def test_what_has_not_changed_is_not_drawn_again_and_is_still_live(open_page: Open) -> None:
    rows = scene.fill()
    page = open_page("/dead-letters/")
    _refresh(page)  # the first answer brings the mark
    with page.expect_response(lambda response: "hx-target" in response.request.headers) as asked:
        page.evaluate("document.body.dispatchEvent(new CustomEvent('app:tick'))")
    assert asked.value.status == 304
    expect(page.locator("[data-live]")).to_have_attribute("data-mode", "live")
    expect(page.locator(f"#dead-{rows.dead}")).to_have_count(1)
    factories.message(rows.payments, state="dead", session="new", error="New: error")
    _refresh(page)
    expect(page.get_by_text("New: error").first).to_be_visible()


def test_a_verb_shows_its_toast_and_the_row_is_read_again(open_page: Open) -> None:
    rows = scene.fill()
    page = open_page("/dead-letters/")
    row = page.locator(f"#dead-{rows.dead}")
    row.get_by_role("button", name="Requeue").click()
    expect(page.locator(".toast")).to_contain_text(f"Message {rows.dead} is ready again")
    expect(row).to_have_count(0)
    assert page.url.endswith("/dead-letters/")


def test_a_stale_row_is_refused_in_words_and_read_again(open_page: Open, said: list[str]) -> None:
    rows = scene.fill()
    page = open_page("/dead-letters/")
    page.locator("[data-live]").click()  # paused, so the row stays as it was seen
    run(
        "UPDATE comboio_dead SET version = nextval('comboio_version') WHERE id = %(i)s", i=rows.dead
    )
    page.locator(f"#dead-{rows.dead}").get_by_role("button", name="Requeue").click()
    expect(page.locator(".toast[data-tone=stop]")).to_contain_text("reload the page")
    expect(page.locator(f"#dead-{rows.dead}")).to_have_count(1)
    # The browser itself notes each answer from 400 on; nothing else may be said.
    assert [text for text in said if "409" not in text] == []
    said.clear()


def test_two_quick_clicks_requeue_once(open_page: Open, said: list[str]) -> None:
    rows = scene.fill()
    page = open_page("/dead-letters/")
    button = page.locator(f"#dead-{rows.dead}").get_by_role("button", name="Requeue")
    button.dblclick()
    expect(page.locator(".toast").first).to_contain_text("ready again")
    expect(page.locator(f"#dead-{rows.dead}")).to_have_count(0)
    assert (
        one(
            "SELECT count(*) FROM comboio_audit WHERE object_id = %(i)s AND actor <> 'anna'",
            i=rows.dead,
        )
        == 1
    )
    said.clear()


def test_a_login_that_expires_leads_to_one_whole_login_page(
    open_page: Open, said: list[str]
) -> None:
    scene.fill()
    page = open_page("/sessions/?show=blocked")
    run("DELETE FROM django_session")
    page.evaluate("document.body.dispatchEvent(new CustomEvent('app:tick'))")
    page.wait_for_url("**/login/?next=*")
    assert "next=%2Fsessions%2F%3Fshow%3Dblocked" in page.url
    expect(page.locator("input[type=password]")).to_have_count(1)
    expect(page.locator("#live")).to_have_count(0)
    assert [text for text in said if "401" not in text] == []
    said.clear()


def test_a_hidden_page_asks_nothing_and_catches_up_when_it_is_seen_again(open_page: Open) -> None:
    page = open_page("/dead-letters/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_load_state("networkidle")
    hide = """hidden => { Object.defineProperty(document, "hidden",
        {configurable: true, get: () => hidden});
        document.dispatchEvent(new Event("visibilitychange")); }"""
    page.evaluate(hide, True)
    asked.clear()
    page.wait_for_timeout(5_000)
    assert [each for each in asked if "/dead-letters/" in each] == []
    with page.expect_response("**/dead-letters/"):
        page.evaluate(hide, False)
    page.goto("about:blank")  # nothing of it may be on its way when the database is emptied


def test_a_paused_page_asks_nothing(open_page: Open) -> None:
    scene.fill()
    page = open_page("/")
    asked: list[str] = []
    page.locator("[data-live]").click()
    expect(page.locator("[data-live]")).to_have_attribute("data-mode", "paused")
    page.clock.install()
    page.on("request", lambda request: asked.append(request.url))
    page.mouse.move(200, 200)
    page.clock.run_for(60_000)
    assert asked == []


def test_the_badge_and_the_title_follow(open_page: Open) -> None:
    rows = scene.fill()
    page = open_page("/messages/")
    count = int(page.locator(".rail .tally-alerts").inner_text())
    factories.alert(rows.payments, subject="one more")
    _refresh(page)
    expect(page.locator(".rail .tally-alerts")).to_have_text(str(count + 1))
    assert page.title().startswith(f"({count + 1}) ")


def test_the_page_and_what_scrolls_within_it_stay_where_they_are(open_page: Open) -> None:
    rows = scene.fill()
    number = factories.message(
        rows.payments, state="done", payload={f"line {n}": n for n in range(400)}
    )
    page = open_page(f"/messages/{number}/")
    page.evaluate("document.getElementById('payload').scrollTop = 700; scrollTo(0, 250);")
    where = "[scrollY, document.getElementById('payload').scrollTop]"
    before = page.evaluate(where)
    assert min(before) > 0
    for _turn in range(3):
        factories.duplicate(number)
        _refresh(page)
    expect(page.get_by_text("3 duplicates, absorbed")).to_be_visible()
    assert page.evaluate(where) == before


# Notes each tick, and answers it after so many seconds; null: with a failure.
ANSWER = """(seconds) => {
  const html = document.getElementById("live").innerHTML;
  window.fetch = () => new Promise((done, fail) => setTimeout(
    () => seconds === null ? fail(new TypeError("no way")) : done(new Response(html)),
    (seconds ?? 0) * 1000));
}"""
TICKS = """() => { window.ticks = [];
    document.body.addEventListener("app:tick", () => window.ticks.push(Date.now())); }"""


def _with_a_clock(open_page: Open) -> Page:
    """A page whose clock and answers are ours; nothing of it reaches the server any more."""
    page = open_page("/alerts/")
    page.clock.install()
    page.reload()
    page.evaluate(ANSWER, 0)
    page.evaluate(TICKS)
    return page


def _gaps(page: Page, seconds: int) -> list[int]:
    """The times between two ticks of the next seconds, in milliseconds."""
    page.evaluate("window.ticks.length = 0")
    for _second in range(seconds):
        page.clock.run_for(1_000)
    gaps: list[int] = page.evaluate(
        "window.ticks.slice(1).map((at, place) => at - window.ticks[place])"
    )
    return gaps


def test_it_asks_every_two_seconds_after_activity_and_every_fifteen_when_idle(
    open_page: Open,
) -> None:
    page = _with_a_clock(open_page)
    busy = _gaps(page, 50)
    assert len(busy) > 20
    assert max(busy) <= 2_000
    _gaps(page, 30)  # a minute after the last act it is idle
    idle = _gaps(page, 100)
    assert len(idle) >= 4
    assert min(idle) >= 13_000
    assert max(idle) <= 17_000


def test_it_asks_less_often_when_answers_are_slow(open_page: Open) -> None:
    page = _with_a_clock(open_page)
    page.evaluate(ANSWER, 3)
    _gaps(page, 10)
    slow = _gaps(page, 40)  # within the minute of activity, that would be 2 s
    assert slow
    assert min(slow) >= 10_000


def test_a_page_without_answers_says_how_old_it_is(open_page: Open, said: list[str]) -> None:
    page = _with_a_clock(open_page)
    page.evaluate(ANSWER, None)
    assert max(_gaps(page, 42)) > 6_000  # it asks a failing server less and less often
    pill = page.locator("[data-live]")
    expect(pill).to_have_attribute("data-mode", "stale")
    expect(pill).to_contain_text("stale 4")
    page.evaluate(ANSWER, 0)
    _gaps(page, 70)
    expect(pill).to_have_attribute("data-mode", "live")
    assert [text for text in said if "no way" not in text] == []
    said.clear()
