"""The clock and order: due messages take their place, gaps are told, strays are adopted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group

from monitor.domain.message import Message
from monitor.domain.order import Numbered
from monitor.engine import directory
from monitor.maintenance.chores import CHORES, run_once
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db(transaction=True)

BY_NAME = {chore.name: chore for chore in CHORES}


def note(_payload: Any, message: Message) -> None:
    Group.objects.create(name=f"ran/{message.key}")


def ran() -> list[str]:
    return [each.name[4:] for each in Group.objects.filter(name__startswith="ran/").order_by("id")]


def test_a_due_message_takes_its_place_before_those_that_came_after_it() -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    with consuming(note):
        send(delivery("first", session="s", not_before=later))
        assert run_once(BY_NAME["release due"]) == 0
        send(delivery("second", session="s"))
        run("UPDATE comboio_waiting SET due_at = now()")
        assert run_once(BY_NAME["release due"]) == 1
        drain_all()
    assert ran() == ["first", "second"]
    assert one("SELECT count(*) FROM comboio_waiting") == 0


def test_delayed_messages_are_counted_apart_from_the_backlog() -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    with consuming(note):
        send(delivery("a", session="s", not_before=later), delivery("b", session="s"))
        run_once(BY_NAME["take snapshot"])
    query = "SELECT backlog, delayed, waiting FROM comboio_consumer_snapshot WHERE delayed > 0"
    assert rows(query) == [(1, 1, 0)]


def test_a_gap_is_told_once_when_it_is_too_old_and_closed_when_the_number_comes() -> None:
    with consuming(note, numbered=Numbered(gap_seconds=60)):
        send(delivery("three", session="s", sequence=3), delivery("one", session="s", sequence=1))
        drain_all()
        assert run_once(BY_NAME["tell gaps"]) == 0
        run("UPDATE comboio_sequence SET gap_since = now() - interval '61 seconds'")
        assert run_once(BY_NAME["tell gaps"]) == 1
        assert run_once(BY_NAME["tell gaps"]) == 0
        title = "Session “s” waits for number 2; 3 is there"
        assert rows("SELECT title, state FROM comboio_alert") == [(title, "open")]
        send(delivery("two", session="s", sequence=2))
        drain_all()
    assert ran() == ["one", "two", "three"]
    assert one("SELECT state FROM comboio_alert") == "resolved"


def test_messages_stored_without_a_place_by_an_older_process_are_adopted() -> None:
    with consuming(note, numbered=Numbered()):
        send(delivery("a", session="s", sequence=1))
        directory.forget()
        drain_all()
        stored = "SELECT lane, session, id FROM comboio_message"
        run(f"INSERT INTO comboio_ready (lane, session, id) {stored}")
        run("DELETE FROM comboio_done")
        assert run_once(BY_NAME["adopt unnumbered"]) == 1
        run("DELETE FROM auth_group WHERE name LIKE 'ran/%%'")
        assert drain_all() == 1


def test_what_waits_behind_a_gap_counts_as_parked() -> None:
    with consuming(note, numbered=Numbered()):
        send(*(delivery(f"k{n}", session="s", sequence=n) for n in (2, 3)))
        drain_all()
        run_once(BY_NAME["take snapshot"])
    query = "SELECT parked, backlog, held_sessions FROM comboio_consumer_snapshot WHERE backlog > 0"
    assert rows(query) == [(2, 2, 0)]
