"""C34: 25,000 dead letters: none is forgotten, and every page and figure counts them."""

from __future__ import annotations

import time

import pytest
from django.test import Client
from prometheus_client import generate_latest

from monitor.maintenance import chores
from monitor.metrics import collector
from monitor.operations import carrying, messages
from monitor.reports import dead_letters, overview, system
from monitor.reports.page import MOST
from tests import factories
from tests.dashboard import looking
from tests.dashboard.conftest import user
from tests.people import ANNA
from tests.rows import one, run

pytestmark = pytest.mark.django_db(transaction=True)

DEAD, OTHERS = 25_000, 3
OF_OTHERS = 100
OUTAGE = "poison: ConnectionError: away"
PAGE_SECONDS = 3.0  # generous: a quiet machine needs 0.1 s, and a report is stopped after 2
CLICK_SECONDS = 5.0  # generous: a click goes on for a second


@pytest.fixture
def outage(db: None) -> int:
    """A consumer after an outage: most of its dead letters have one cause."""
    consumer = factories.consumer(name="payments.apply")
    factories.bury_many(consumer, DEAD - OTHERS * OF_OTHERS, OUTAGE)
    for number in range(OTHERS):
        factories.bury_many(consumer, OF_OTHERS, f"poison: other {number}")
    run("ANALYZE comboio_dead, comboio_message")
    return consumer


def test_none_is_evicted_and_every_figure_counts_all(outage: int) -> None:
    for chore in chores.CHORES:
        chores.run_once(chore)
    assert one("SELECT count(*) FROM comboio_dead") == DEAD
    found = overview.read()
    assert found.totals.dead == DEAD
    assert [row.dead for row in found.consumers if row.id == outage] == [DEAD]
    assert system.read().books.dead == DEAD
    scraped = generate_latest(collector.registry()).decode()
    assert f'comboio_dead_messages{{consumer="payments.apply"}} {float(DEAD)}' in scraped


def test_every_single_one_is_reached_page_by_page(outage: int) -> None:
    seen: set[int] = set()
    cursor: str | None = None
    while True:
        page = dead_letters.page(cursor, limit=MOST)
        seen.update(row.id for row in page.rows)
        if page.next is None:
            break
        cursor = page.next
    assert len(seen) == DEAD


def test_the_page_counts_each_cause_and_says_where_it_stops_counting(outage: int) -> None:
    viewer = Client()
    viewer.force_login(user("vera", "viewer"))
    begun = time.monotonic()
    response = viewer.get("/dead-letters/")
    assert time.monotonic() - begun < PAGE_SECONDS
    text = " ".join(looking.Markup(response.content.decode()).text.split())
    assert "10,000+" in text
    counts = {group.cause: group.count for group in dead_letters.groups()}
    assert counts.pop(OUTAGE) == dead_letters.CAP + 1
    assert counts == {f"poison: other {n}": OF_OTHERS for n in range(OTHERS)}
    assert "25,000" in looking.Markup(viewer.get("/").content.decode()).text


def test_a_cause_larger_than_a_click_can_wait_for_is_requeued_whole_by_the_clock(
    outage: int,
) -> None:
    newest = one("SELECT max(version) FROM comboio_dead")
    begun = time.monotonic()
    done = messages.requeue_cause(ANNA, OUTAGE, up_to_version=newest)
    assert time.monotonic() - begun < CLICK_SECONDS
    left = DEAD - OTHERS * OF_OTHERS - done.count
    assert f"{left} follow" in done.text
    while left:
        left -= carrying.carry_on_all()
    assert one("SELECT count(*) FROM comboio_dead") == OTHERS * OF_OTHERS
    assert one("SELECT count(*) FROM comboio_ready") == DEAD - OTHERS * OF_OTHERS
