"""Kills, cuts and refusals while messages come in: nothing is lost, doubled or out of order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest
from pytest_django import Settings as DjangoSettings

from monitor.domain.consumer import Consumer
from monitor.engine import ingest
from monitor.sources import acceptance
from monitor.sources.health import Health
from tests.activity import HERE, LOCKS
from tests.monitor.sources.receivers import Process, about, count, receiving, rows, stored
from tests.rabbitmq import Queue
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

MESSAGES = "SELECT count(*) FROM comboio_message"
RECEIVERS = f"FROM pg_stat_activity WHERE application_name = 'comboio receiver inbound' AND {HERE}"


def put(queue: Queue, first: int, last: int) -> None:
    for n in range(first, last):
        queue.put(f'{{"n":{n}}}', about(f"m-{n}", f"s-{n % 5}"))


def bodies(count: int) -> list[str]:
    return [f'{{"n":{n}}}' for n in range(count)]


def test_a_killed_receiver_loses_and_doubles_nothing(
    queue: Queue, tmp_path: Path, database_url: str
) -> None:
    put(queue, 0, 3000)
    first = Process(queue, tmp_path, database_url)
    try:
        wait_until(lambda: count(MESSAGES) > 200, 30, what="the first batches")
    finally:
        first.kill()
    had = count(MESSAGES)
    second = Process(queue, tmp_path, database_url)
    try:
        wait_until(lambda: count(MESSAGES) == 3000, 30, what="all messages")
        wait_until(lambda: queue.left() == 0, what="an empty queue")
        assert second.stop() == 0
    finally:
        first.close()
        second.close()
    assert had < 3000, "the kill came too late to prove anything"
    assert [body for _, body in stored()] == bodies(3000)


def test_only_one_receiver_is_active_and_another_takes_over(
    queue: Queue, tmp_path: Path, database_url: str, taker: Consumer
) -> None:
    active = Process(queue, tmp_path, database_url)
    try:
        wait_until(lambda: queue.consumers() == 1, 30, what="the active receiver")
        with receiving(queue) as standby:
            wait_until(lambda: standby.state == "standing by", what="the one that stands by")
            put(queue, 0, 100)
            wait_until(lambda: count(MESSAGES) == 100, what="the first messages")
            assert (queue.consumers(), standby.messages) == (1, 0)
            active.kill()
            put(queue, 100, 200)
            wait_until(lambda: standby.messages == 100, what="the takeover")
    finally:
        active.close()
    assert [body for _, body in stored()] == bodies(200)


def test_a_forced_close_of_the_connection_is_mended(queue: Queue, taker: Consumer) -> None:
    put(queue, 0, 4000)
    wait_until(lambda: queue.depth() == 4000, what="a full queue")
    with receiving(queue, batch_size=10) as health:
        wait_until(lambda: health.messages >= 20, what="the first batches")
        queue.node.close_all_connections()
        assert health.messages < 4000, "the cut came too late to prove anything"
        wait_until(lambda: count(MESSAGES) == 4000, 30, what="all messages")
        wait_until(lambda: queue.left() == 0, what="an empty queue")
    assert health.interruptions > 0
    assert [body for _, body in stored()] == bodies(4000)


def test_a_terminated_database_session_acknowledges_nothing_and_goes_on(
    queue: Queue, taker: Consumer
) -> None:
    with receiving(queue) as health:
        put(queue, 0, 50)
        wait_until(lambda: health.messages == 50, what="the first messages")
        assert rows(f"SELECT pg_terminate_backend(pid) {RECEIVERS}") == [(True,)]
        put(queue, 50, 100)
        wait_until(lambda: count(MESSAGES) == 100, what="all messages")
        wait_until(lambda: health.messages == 100, what="their acknowledgement")
    assert health.interruptions == 1
    assert [body for _, body in stored()] == bodies(100)
    assert queue.left() == 0


def test_an_unknown_commit_is_decided_by_the_next_delivery(
    queue: Queue, taker: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept = acceptance.Acceptance._accept
    lost = []

    def answer_lost(self: acceptance.Acceptance, deliveries: Any) -> Any:
        found = accept(self, deliveries)
        if not lost:
            lost.append(len(deliveries))
            raise psycopg.OperationalError("the connection was cut while COMMIT was on its way")
        return found

    monkeypatch.setattr(acceptance.Acceptance, "_accept", answer_lost)
    put(queue, 0, 100)
    with receiving(queue) as health:
        wait_until(lambda: health.messages == 100, what="all messages")
    assert health.duplicate == lost[0] > 0
    assert [body for _, body in stored()] == bodies(100)
    assert rows("SELECT DISTINCT cause FROM comboio_duplicate") == [("redelivered",)]
    assert queue.left() == 0


def test_a_message_that_can_never_be_stored_is_set_aside_alone(
    queue: Queue, taker: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept = ingest.accept

    def picky(cursor: Any, deliveries: Any, **options: Any) -> Any:
        if any(each.payload == b'{"n":7}' and not each.malformed for each in deliveries):
            cursor.execute("SELECT 1/0")
        return accept(cursor, deliveries, **options)

    monkeypatch.setattr(ingest, "accept", picky)
    put(queue, 0, 20)
    with receiving(queue) as health:
        wait_until(lambda: health.messages == 20, what="all messages")
    assert [body for _, body in stored("consumer = 0")] == ['{"n":7}']
    assert [body for _, body in stored()] == bodies(20)
    assert "division by zero" in rows("SELECT error FROM comboio_dead")[0][0]
    assert queue.left() == 0


def test_a_lock_that_is_not_free_is_waited_for(
    queue: Queue, taker: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept, refusals = ingest.accept, [1, 2]

    def busy(cursor: Any, deliveries: Any, **options: Any) -> Any:
        if refusals:
            refusals.pop()
            raise psycopg.errors.LockNotAvailable("canceling statement due to lock timeout")
        return accept(cursor, deliveries, **options)

    monkeypatch.setattr(ingest, "accept", busy)
    put(queue, 0, 5)
    with receiving(queue) as health:
        wait_until(lambda: health.messages == 5, what="all messages")
    assert health.interruptions == 0


def test_a_receiver_stops_soon_in_every_state(queue: Queue, taker: Consumer) -> None:
    states: list[Health] = []
    with receiving(queue) as idle:
        wait_until(lambda: idle.state == "receiving", what="an idle receiver")
        with receiving(queue) as standby:
            wait_until(lambda: standby.state == "standing by", what="one that stands by")
            states.append(standby)
        states.append(idle)
    with receiving(queue, queue="no.such.queue") as away:
        wait_until(lambda: away.state == "broker away", what="one without a queue")
        states.append(away)
    assert "no.such.queue" in away.last_error
    assert [each.state for each in states] == ["stopped"] * 3
    assert count(LOCKS) == 0


def test_another_consumer_on_the_queue_is_named_and_not_joined(
    queue: Queue, taker: Consumer
) -> None:
    foreign = queue.connection.channel()
    tag = foreign.basic_consume(queue.name, lambda *_: None)
    with receiving(queue) as health:
        wait_until(lambda: health.state == "broker away", what="the refusal")
        assert "another consumer" in health.last_error
        foreign.basic_cancel(tag)
        queue.put(b"{}", about("m"))
        wait_until(lambda: health.messages == 1, what="the message")


def test_a_database_that_forgets_is_refused(
    queue: Queue, taker: Consumer, settings: DjangoSettings
) -> None:
    settings.ENVIRONMENT = None  # The test server runs with fsync off, and nobody admits it now.
    queue.put(b"{}", about("m"))
    with receiving(queue) as health:
        wait_until(lambda: health.state == "refused", what="the refusal")
    assert "fsync" in health.last_error
    assert queue.left() == 1
