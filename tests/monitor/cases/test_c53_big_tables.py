"""C53: a large inbox. Its pages go by index, are bounded, and say where a count is cut off.

good_job 1532, oban_web 52, awx 4708: with some hundred thousand rows pages did not load, kept the
database busy, and told counts that contradicted each other. Here 200,000 messages, of which 20,000
are dead, in 5,000 sessions; `python -m bench.console` does the same with 5,000,000 under traffic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from pytest_django.plugin import DjangoDbBlocker

from bench import console_pages
from monitor.reports import dead_letters, reading, requeues, system
from monitor.reports.page import Place
from monitor.seeding import history
from monitor.seeding.history import Made
from monitor.seeding.shape import Shape
from monitor.testing import cleaning
from tests.dashboard.looking import Markup
from tests.monitor.reports.test_plans import BIG
from tests.rows import one, rows

SHAPE = Shape(messages=200_000, dead=20_000, sessions=5_000, days=2)
# Pages of 8 kB that the statements of one page may touch. The most is 11,000 (Duplicates looks at
# 12,000 kept ones and their messages), a list of 50 rows needs a tenth of it.
MOST_BUFFERS = 20_000
FEW = 4_000  # rows of a table that may be read whole


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Made]:
    """The large inbox, for all tests of this file; they only read."""
    with django_db_blocker.unblock():
        cleaning.empty_inbox()
        found = history.fill(SHAPE)
    yield found
    with django_db_blocker.unblock():
        cleaning.empty_inbox()
        connection.close()


@pytest.fixture
def client(made: Made, db: None) -> Client:
    """An administrator's browser."""
    signed_in = Client()
    signed_in.force_login(get_user_model().objects.create_superuser("anna"))
    return signed_in


def test_the_books_balance_and_each_message_is_in_one_place(made: Made, db: None) -> None:
    books = system.read().books
    assert books.balanced is True
    assert books.accepted == made.messages
    assert books.dead == made.dead == SHAPE.dead
    states = dict(rows("SELECT state, count(*) FROM comboio_message_state GROUP BY 1"))
    assert None not in states
    assert sum(states.values()) == made.messages
    tables = ("done", "ready", "waiting", "dead", "discarded", "in_doubt")
    counts = (one(f"SELECT count(*) FROM comboio_{table}") for table in tables)
    assert sum(counts) == made.messages
    assert one("SELECT count(*) FROM comboio_dedup") == made.messages
    assert one(
        "SELECT count(*) FROM comboio_total t JOIN (SELECT consumer, name, label, sum(value)"
        " FROM comboio_rollup GROUP BY 1, 2, 3) r USING (consumer, name, label)"
        " WHERE abs(t.value - r.sum) < 0.001"
    ) == one("SELECT count(*) FROM comboio_total")


def test_every_page_goes_by_index_and_touches_little(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In proportion to this inbox: what is counted up to a bound reads a smaller table whole.
    monkeypatch.setattr(dead_letters, "CAP", 1_000)
    monkeypatch.setattr(requeues, "MOST", 2_000)
    large = {table for table in BIG if one(f"SELECT count(*) FROM {table}") > FEW}
    assert {"comboio_message", "comboio_done", "comboio_dead", "comboio_event"} <= large
    faults = []
    pages = console_pages.pages(lambda address: client.get(address).content.decode())
    assert len(pages) > 40
    for name, address in pages:
        with _statements() as caught:
            response = client.get(address, follow=True)
        assert response.status_code == 200, (name, address)
        touched = 0
        for statement, values in caught:
            plan = _plan(statement, values)
            touched += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
            whole = large.intersection(_read_whole(plan))
            faults += [f"{name} reads {table} whole: {statement[:60]}" for table in whole]
        if touched > MOST_BUFFERS:
            faults.append(f"{name} touches {touched:,} pages of 8 kB")
    assert faults == []


@pytest.mark.parametrize("where", ["first", "middle", "last"])
def test_each_end_of_the_dead_list_is_its_own_page(client: Client, where: str) -> None:
    ordered = [row[0] for row in rows("SELECT id FROM comboio_dead ORDER BY at DESC, id DESC")]
    middle = len(ordered) // 2
    at = one("SELECT at FROM comboio_dead WHERE id = %(id)s", id=ordered[middle])
    places = {
        "first": ("", ordered[:50]),
        "middle": (
            Place(sort=at.isoformat(), id=ordered[middle]).text(),
            ordered[middle + 1 : middle + 51],
        ),
        "last": (
            Place(sort="0001-01-01T00:00:00+00:00", id=0, back=True).text(),
            ordered[-50:],
        ),
    }
    cursor, expected = places[where]
    page = dead_letters.page(cursor)
    assert [row.id for row in page.rows] == expected
    text = client.get("/dead-letters/", {"page": cursor}).content.decode()
    shown = [int(found) for found in re.findall(r'id="dead-(\d+)"', text)]
    assert shown == expected


def test_a_key_leads_to_its_message_at_once(client: Client) -> None:
    number, key = rows("SELECT id, key FROM comboio_message ORDER BY id OFFSET 66000 LIMIT 1")[0]
    response = client.get("/messages/", {"q": key})
    assert response.status_code == 302
    assert response["Location"] == f"/messages/{number}/"


def test_a_text_that_finds_nothing_is_told_what_is_searched(client: Client) -> None:
    text = Markup(client.get("/messages/", {"q": "amount_cents 4711"}).content.decode()).text
    assert "amount_cents 4711" in text
    assert "payloads are not searched" in text.lower()


def test_a_page_that_takes_too_long_says_so_in_words(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(dead_letters.SQL, "causes", "SELECT pg_sleep(30)::text")
    response = client.get("/dead-letters/")
    assert response.status_code == 503
    text = Markup(response.content.decode()).text
    assert f"Stopped after {reading.PAGE_SECONDS:g} s" in text
    assert "Narrow the filter" in text


def test_a_count_that_is_cut_off_is_marked_and_the_same_on_every_page(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = max(dead_letters.groups(), key=lambda group: group.count)
    exact = one("SELECT count(*) FROM comboio_dead WHERE cause = %(c)s", c=most.cause)
    assert most.count == exact <= dead_letters.CAP
    for address in ("/dead-letters/", f"/dead-letters/?cause={most.cause}"):
        assert f"{exact:,}" in Markup(client.get(address, follow=True).content.decode()).text
    monkeypatch.setattr(dead_letters, "CAP", 1_000)
    cut = {group.cause: group.count for group in dead_letters.groups()}
    assert cut[most.cause] == 1_001
    total = one("SELECT count(*) FROM comboio_dead x JOIN comboio_consumer c ON c.id = x.consumer")
    assert total == SHAPE.dead


@contextmanager
def _statements() -> Iterator[list[tuple[str, Any]]]:
    """The statements on the tables of the inbox that run in the block."""
    caught: list[tuple[str, Any]] = []

    def catch(execute: Any, statement: str, values: Any, many: bool, context: Any) -> Any:
        if "comboio_" in statement:
            caught.append((statement, values))
        return execute(statement, values, many, context)

    with connection.execute_wrapper(catch):
        yield caught


def _plan(statement: str, values: Any) -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", values)
        plan = cursor.fetchone()[0]
    root: dict[str, Any] = (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]
    return root


def _read_whole(node: dict[str, Any]) -> Iterator[str]:
    table = node.get("Relation Name", "").removesuffix("_default")
    if "Seq Scan" in node["Node Type"]:
        yield table
    for inner in node.get("Plans", ()):
        yield from _read_whole(inner)
