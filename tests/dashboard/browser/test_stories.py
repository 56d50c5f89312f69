"""What an engineer on call does, with no more clicks than the story allows, typing aside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import factories, factory_effects, factory_figures
from tests.dashboard import looking
from tests.dashboard.browser.conftest import Open
from tests.rows import one, run
from tests.watching import watched_for

_MOST_STOPS = 200  # of Tab on one page
pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(slots=True)
class Hand:
    """Clicks and counts them; or reaches the target by Tab alone and presses Enter."""

    page: Page
    by_keyboard: bool
    clicks: int = 0

    def press(self, target: Locator) -> None:
        """One click, with the pointer or by keyboard."""
        self.clicks += 1
        expect(target).to_be_visible()
        if not self.by_keyboard:
            target.click()
            return
        for _press in range(_MOST_STOPS):
            self.page.keyboard.press("Tab")
            if target.evaluate("one => one === document.activeElement"):
                break
        expect(target).to_be_focused()
        self.page.keyboard.press("Enter")


Handed = Callable[..., Hand]


@pytest.fixture(params=["pointer", "keyboard"])
def hand(request: pytest.FixtureRequest, open_page: Open) -> Handed:
    """Opens a page and gives the hand that works on it."""

    def opened(path: str) -> Hand:
        return Hand(open_page(path), request.param == "keyboard")

    return opened


def _alert(kind: str) -> str:
    """The address that an alert of the kind carries."""
    return f"/alerts/{one('SELECT min(id) FROM comboio_alert WHERE kind = %(kind)s', kind=kind)}/"


def test_1_at_night_payments_stand_still_and_the_alert_leads_to_the_mending(
    hand: Handed, owner: int
) -> None:
    dead = factories.message(owner, state="dead", session="acc-4711", holds=True)
    factories.message(owner, session="acc-4711")
    factory_figures.snapshot()
    at = hand(_alert("held session"))
    at.press(at.page.locator("summary", has_text=f"Skip head {dead}"))
    at.page.locator(".ask[open]").get_by_label("Reason").fill("customer waits")
    at.press(at.page.locator(".ask[open] form button"))
    expect(at.page.locator(".toast")).to_contain_text("goes on")
    assert at.clicks <= 2


def test_3_a_provider_timed_out_and_one_question_settles_twelve(
    hand: Handed, owner: int, lost: set[int]
) -> None:
    made = [factory_effects.in_doubt(owner, key=f"charge-{n}", session=f"s{n}") for n in range(12)]
    lost.update(number for number, _effect in made[:3])
    factory_figures.snapshot()
    at = hand("/")
    with watched_for(60):
        at.press(at.page.locator(".verdict").get_by_role("button", name="Ask the provider about"))
        expect(at.page.locator(".toast")).to_contain_text("Asked about 12 effects: 9 happened, 3")
    assert at.clicks <= 3
    assert one("SELECT count(*) FROM comboio_in_doubt") == 0


def test_4_one_id_with_two_amounts_is_compared_and_decided(hand: Handed, owner: int) -> None:
    first = factories.message(owner, session="acc-1", payload={"amount": 1200})
    factories.mismatch(first, payload={"amount": 1250})
    at = hand(_alert("mismatch"))
    expect(at.page.get_by_text("1200").first).to_be_visible()
    expect(at.page.get_by_text("1250").first).to_be_visible()
    at.press(at.page.locator("summary", has_text="Keep first"))
    at.page.locator(".ask[open]").get_by_label("Reason").fill("a typo of theirs")
    at.press(at.page.locator(".ask[open] form button"))
    expect(at.page.get_by_text("kept the first payload")).to_be_visible()
    assert at.clicks <= 2


def test_5_my_order_hangs_and_its_id_leads_to_what_blocks_it(hand: Handed, owner: int) -> None:
    dead = factories.message(owner, state="dead", session="acc-1", holds=True, key="order-1")
    factories.message(owner, session="acc-1", key="order-2")
    hangs = factories.message(owner, session="acc-1", key="order-3")
    factory_figures.snapshot()
    at = hand("/")
    at.page.keyboard.press("/")
    at.page.keyboard.type("order-3")
    at.page.keyboard.press("Enter")
    at.page.wait_for_url(f"**/messages/{hangs}/")
    at.press(at.page.get_by_role("link", name=f"behind dead message {dead}"))
    at.page.wait_for_url(f"**/messages/{dead}/")
    assert at.clicks <= 1


def test_6_a_corrected_payload_goes_back_to_its_own_place(hand: Handed, owner: int) -> None:
    dead = factories.message(
        owner, state="dead", session="acc-1", holds=True, payload={"amount": "12,50"}
    )
    factories.message(owner, session="acc-1")
    at = hand(f"/messages/{dead}/")
    at.press(at.page.get_by_role("link", name="Correct and replay"))
    at.page.get_by_label("What it shall run with").fill('{"amount": 1250}')
    at.page.get_by_label("What you corrected, and why").fill("comma")
    at.press(at.page.get_by_role("button", name="Replay with this text"))
    at.page.wait_for_url(f"**/messages/{dead}/")
    assert at.clicks <= 3
    assert looking.state(dead) == "ready"
    order = "SELECT min(id) FROM comboio_ready WHERE session = (SELECT session FROM comboio_message"
    assert one(f"{order} WHERE id = %(id)s)", id=dead) == dead


def test_8_a_backlog_says_when_it_is_empty_and_what_limits_it(hand: Handed, owner: int) -> None:
    for n in range(101):
        factories.message(owner, session="hot" if n else "other")
    factory_figures.snapshot()
    factory_figures.counters(owner, name="processed", label="done", value=900)
    at = hand("/")
    row = at.page.locator(f"#consumer-{owner}")
    expect(row).to_contain_text("empty in")
    expect(row).to_contain_text("one session")
    assert at.clicks == 0


def test_9_the_duplicate_rate_jumped_and_the_producer_is_named(hand: Handed, owner: int) -> None:
    number = factories.message(owner, origin="billing-eu")
    for gap in (9.9, 10.0, 10.0, 10.1):
        factories.duplicate(number, gap_seconds=gap)
    factory_figures.counters(owner, name="received", label="new", value=46)
    factory_figures.counters(owner, name="received", label="duplicate", value=4)
    factory_figures.counters(owner, name="duplicates", label="repeated", value=4)
    factory_figures.snapshot()
    at = hand("/")
    at.press(at.page.locator(f"#consumer-{owner}").get_by_role("link", name="8"))
    expect(at.page.locator("#hint")).to_contain_text("billing-eu. Its sender retries after 10 s")
    expect(at.page.locator("#producer-0")).to_contain_text("billing-eu")
    assert at.clicks <= 1


def test_10_who_discarded_it_is_told_and_it_is_restored(hand: Handed, owner: int) -> None:
    number = factories.message(owner, state="discarded")
    factory_figures.audit(actor="bert", verb="discard", object_id=number)
    at = hand("/audit/?verb=discard")
    expect(at.page.get_by_text("bert")).to_be_visible()
    at.press(at.page.get_by_role("link", name=f"message {number}"))
    at.press(at.page.get_by_role("button", name="Restore to the dead letters"))
    expect(at.page.locator(".toast")).to_contain_text("back among the dead letters")
    assert at.clicks <= 2


def test_11_the_gaps_stand_beside_how_long_keys_are_kept(hand: Handed, owner: int) -> None:
    number = factories.message(owner)
    factories.duplicate(number, gap_seconds=600_000)
    run("UPDATE comboio_message SET key = 'k'")
    at = hand("/")
    at.press(at.page.locator(".rail").get_by_role("link", name="Duplicates"))
    expect(at.page.get_by_text("keys kept 14 d").first).to_be_visible()
    expect(at.page.get_by_text("came 6 d 22 h after its first")).to_be_visible()
    assert at.clicks <= 1
