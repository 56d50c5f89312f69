"""Policies of a consumer: priority, concurrency, check_session, version, a downstream away."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Barrier, Event, Thread
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection

from monitor.domain.errors import DownstreamAway
from monitor.domain.message import Message
from monitor.domain.order import Priority
from monitor.domain.retry import Retry
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db(transaction=True)


def note(_payload: Any, message: Message) -> None:
    Group.objects.create(name=f"{message.session}/{message.key}")


def ran() -> list[str]:
    own = Group.objects.filter(name__contains="/").order_by("id")
    return [each.name.split("/")[1] for each in own]


def first_letter(session: str) -> Priority:
    return {"h": Priority.HIGH, "l": Priority.LOW}.get(session[0], Priority.NORMAL)


@pytest.mark.parametrize("external", [False, True])
def test_important_sessions_run_first_and_the_others_are_not_starved(*, external: bool) -> None:
    sessions = [f"{letter}{n}" for n in range(30) for letter in "lnh"]
    with consuming(note, priority=first_letter, external=external):
        send(*(delivery(each, session=each) for each in sessions))
        drain_all()
    order = ran()
    assert len(order) == 90
    half = order[:45]
    assert sum(each[0] == "h" for each in half) >= 24
    if external:  # one at a time: the shares of the lower ones show
        assert {each[0] for each in half} == {"h", "n", "l"}


def test_a_session_keeps_its_order_whatever_its_priority() -> None:
    with consuming(note, priority=first_letter):
        send(*(delivery(f"h{n}", session="h") for n in range(50)))
        drain_all()
    assert ran() == [f"h{n}" for n in range(50)]


@pytest.mark.parametrize("external", [False, True])
def test_no_more_sessions_run_at_once_than_the_consumer_allows(*, external: bool) -> None:
    inside, gate = Event(), Event()

    def work(payload: Any, message: Message) -> None:
        inside.set()
        assert gate.wait(20)
        if not external:
            note(payload, message)

    def drain_in_thread() -> None:
        try:
            drain_all()
        finally:
            connection.close()

    with consuming(work, concurrency=1, external=external):
        send(*(delivery(f"k{n}", session=f"s{n}") for n in range(4)))
        first = Thread(target=drain_in_thread)
        first.start()
        assert inside.wait(20)
        assert drain_all() == 0, "a second worker found nothing that it may run"
        gate.set()
        first.join(20)
        drain_all()
    assert one("SELECT count(*) FROM comboio_done") == 4


def test_as_many_sessions_run_at_once_as_the_consumer_allows() -> None:
    both = Barrier(2)

    def work(payload: Any, message: Message) -> None:
        both.wait(20)  # nobody passes alone
        note(payload, message)

    def drain_in_thread() -> None:
        try:
            drain_all()
        finally:
            connection.close()

    with consuming(work, concurrency=2, external=True):
        send(delivery("a", session="a"), delivery("b", session="b"))
        threads = [Thread(target=drain_in_thread) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert one("SELECT count(*) FROM comboio_done") == 2


@pytest.mark.parametrize("external", [False, True])
def test_a_message_of_another_session_is_dead_and_never_runs(*, external: bool) -> None:
    def belongs(payload: Any, session: str) -> bool:
        return bool(payload["account"] == session)

    with consuming(note, check_session=belongs, external=external):
        send(
            delivery("right", {"account": "a"}, session="a"),
            delivery("wrong", {"account": "b"}, session="a"),
            delivery("next", {"account": "a"}, session="a"),
        )
        drain_all()
    assert ran() == ["right", "next"]
    ((reason, attempts),) = rows("SELECT reason, attempts FROM comboio_dead")
    assert (reason, attempts) == ("wrong session", 1)


def test_an_older_state_is_absorbed_and_an_equal_or_newer_one_is_stored() -> None:
    with consuming(note, version="v"):
        for key, version in (("a", 5), ("older", 4), ("same", 5), ("newer", 6), ("old", 1)):
            send(delivery(key, {"v": version}, session="s"))
            drain_all()
    assert ran() == ["a", "same", "newer"]
    query = "SELECT count(*) FROM comboio_done WHERE result ->> 'absorbed' IS NOT NULL"
    assert one(query) == 2


def test_a_version_that_failed_with_its_handler_is_not_remembered() -> None:
    def work(payload: Any, message: Message) -> None:
        if payload["v"] == 9:
            raise ValueError
        note(payload, message)

    with consuming(work, version="v", retry=Retry(limit=1)):
        send(delivery("fails", {"v": 9}, session="s"), delivery("b", {"v": 3}, session="s"))
        drain_all()
    assert ran() == ["b"]


@pytest.mark.parametrize("version", ["soon", None, 1.5, "2026-11-30T10:00:00"])
def test_a_version_that_is_no_number_and_no_time_is_malformed(version: Any) -> None:
    with consuming(note, version="v"):
        send(delivery("k", {"v": version}, session="s"))
        drain_all()
    assert rows("SELECT reason FROM comboio_dead") == [("malformed",)]


def test_times_are_versions_whatever_their_zone() -> None:
    with consuming(note, version="v"):
        for key, at in (("a", "2026-11-30T10:00:00+02:00"), ("b", "2026-11-30T08:30:00Z")):
            send(delivery(key, {"v": at}, session="s"))
            drain_all()
        send(delivery("c", {"v": "2026-11-30T10:20:00+02:00"}, session="s"))
        drain_all()
    assert ran() == ["a", "b"]


@pytest.mark.parametrize("external", [False, True])
def test_a_downstream_that_is_away_burns_no_attempts_and_throttles_its_consumer(
    *, external: bool
) -> None:
    calls: list[str] = []
    away = [True]

    def work(payload: Any, message: Message) -> None:
        calls.append(message.key)
        if away[0]:
            raise DownstreamAway("no route to the bank")
        if not external:
            note(payload, message)

    with consuming(work, external=external, retry=Retry(limit=2)):
        send(*(delivery(f"k{n:02}", session=f"s{n}") for n in range(40)))
        drain_all()
        assert one("SELECT count(*) FROM comboio_dead") == 0
        assert len(set(calls)) <= 7, "the backlog was not tried out"
        assert one("SELECT opened_at IS NOT NULL FROM comboio_breaker") is True
        assert one("SELECT count(*) FROM comboio_alert WHERE kind = 'throttled consumer'") == 1
        tried = len(calls)
        drain_all()
        assert len(calls) == tried, "no try is due"
        _due()
        drain_all()
        assert len(calls) == tried + 1, "one try, and it failed"
        away[0] = False
        _due()
        drain_all()
    assert one("SELECT count(*) FROM comboio_done") == 40
    assert one("SELECT count(*) FROM comboio_breaker") == 0
    assert one("SELECT state FROM comboio_alert WHERE kind = 'throttled consumer'") == "resolved"
    assert one("SELECT max(attempts) FROM comboio_done") == 1


def test_errors_that_the_author_names_as_away_count_as_such() -> None:
    def work(_payload: Any, _message: Message) -> None:
        raise ConnectionRefusedError

    with consuming(work, retry=Retry(limit=1, away=(ConnectionError,))):
        send(delivery("k", session="s"))
        drain_all()
    assert one("SELECT count(*) FROM comboio_dead") == 0
    assert one("SELECT attempts FROM comboio_gate") == 0


def test_a_delayed_message_waits_alone_until_it_is_due() -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    with consuming(note):
        send(delivery("later", session="s", not_before=soon), delivery("now", session="s"))
        send(delivery("past", session="s", not_before=soon - timedelta(days=1)))
        drain_all()
    assert ran() == ["now", "past"]
    query = "SELECT state FROM comboio_message_state s JOIN comboio_waiting w ON w.id = s.id"
    assert one(query) == "waiting"


def _due() -> None:
    """As if the time until the next try and the next retries had passed."""
    run("UPDATE comboio_breaker SET probe_at = now()")
    run("UPDATE comboio_gate SET retry_at = now()")
