"""A bad deploy buried many; the fix is live: one first, then the rest, and every wrong click."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from monitor.domain.retry import Retry
from monitor.operations import carrying
from tests import factory_figures
from tests.dashboard.browser.conftest import Open
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import one

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 150


@pytest.fixture
def buried() -> Iterator[None]:
    """Dead letters of one cause, and a worker whose handler is mended."""
    is_mended = False

    def work(_payload: object, _message: object) -> None:
        if not is_mended:
            raise ValueError("no column “tax_id”")

    with consuming(work, when_dead="skip", retry=Retry(limit=1)):
        send(*[delivery(f"order-{n}", session=f"s{n}") for n in range(MANY)])
        while one("SELECT count(*) FROM comboio_dead") < MANY:
            drain_all()
        factory_figures.snapshot()
        factory_figures.worker()
        is_mended = True
        yield


def _go_on() -> None:
    """What the workers and the clock do meanwhile."""
    while drain_all() + carrying.carry_on_all():
        pass


def test_three_clicks_from_the_overview_put_all_back_one_first(
    open_page: Open, buried: None
) -> None:
    page = open_page("/", "operator")
    page.locator(".verdict").get_by_role("link", name=f"Requeue {MANY} messages…").click()
    expect(page.get_by_text("The set is frozen")).to_be_visible()
    page.get_by_role("button", name="Requeue one first").click()
    expect(page.get_by_text(f"One message went ahead; {MANY - 1} wait")).to_be_visible()
    _go_on()
    page.get_by_role("button", name=f"Requeue {MANY - 1} more").click()
    expect(page.locator(".toast")).to_contain_text("requeued")
    _go_on()
    page.mouse.move(0, 0)  # What is under the pointer is left in peace for some seconds.
    expect(page.get_by_text("All were processed.")).to_be_visible()
    assert one("SELECT count(*) FROM comboio_done") == MANY


def test_the_same_by_keyboard(open_page: Open, buried: None) -> None:
    page = open_page("/", "operator")
    _press(page, page.locator(".verdict").get_by_role("link", name=f"Requeue {MANY} messages…"))
    page.wait_for_url("**/requeues/plan/**")
    _press(page, page.get_by_role("button", name="Requeue one first"))
    page.wait_for_url("**/requeues/*/")
    _go_on()
    more = page.get_by_role("button", name=f"Requeue {MANY - 1} more")
    expect(more).to_be_visible()
    _press(page, more)
    expect(page.locator(".toast")).to_contain_text("requeued")


def test_it_works_without_script_and_going_back_repeats_nothing(
    open_page: Open, buried: None
) -> None:
    page = open_page("/dead-letters/", "operator", java_script_enabled=False)
    page.get_by_role("link", name="Plan a requeue of these").click()
    page.get_by_label("How fast").select_option("1")
    page.get_by_role("button", name=f"Requeue all {MANY}").click()
    expect(page.get_by_text("It runs:")).to_be_visible()
    frozen = one("SELECT total FROM comboio_bulk")
    page.go_back()
    expect(page.get_by_text("takes the same dead letters")).to_be_visible()
    page.get_by_role("link", name="Go on with it, or stop it first.").click()
    assert (frozen, one("SELECT count(*) FROM comboio_bulk")) == (MANY, 1)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("stopped by operator-0").first).to_be_visible()


def _press(page: Page, target: object) -> None:
    """By Tab and Enter alone."""
    for _press in range(80):
        page.keyboard.press("Tab")
        if target.evaluate("one => one === document.activeElement"):  # type: ignore[attr-defined]
            break
    page.keyboard.press("Enter")
