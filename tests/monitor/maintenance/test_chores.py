"""The clock's chores: figures stay true, one process at a time."""

from __future__ import annotations

from threading import Event, Thread

import psycopg
import pytest
from django.db import connection

from monitor.maintenance import clock
from monitor.maintenance.chores import CHORES, Chore, run_once
from monitor.store import connections, rollup
from tests import factories
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import one, rows, run
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

BY_NAME = {chore.name: chore for chore in CHORES}


def test_folding_moves_deltas_into_minutes_and_totals_and_loses_none() -> None:
    with connection.cursor() as cursor:
        rollup.add(cursor, [(1, "received", "new", 2.0), (1, "received", "new", 3.0)])
    run_once(BY_NAME["fold counters"])
    with connection.cursor() as cursor:
        rollup.add(cursor, [(1, "received", "new", 4.0)])
    run_once(BY_NAME["fold counters"])
    assert one("SELECT count(*) FROM comboio_rollup_delta") == 0
    assert rows("SELECT value FROM comboio_total") == [(9.0,)]
    assert one("SELECT sum(value) FROM comboio_rollup") == 9.0


def test_a_snapshot_counts_backlog_parked_and_held() -> None:
    consumer = factories.consumer(when_dead="hold")
    factories.message(consumer, state="dead", session="s1", holds=True)
    for _ in range(3):
        factories.message(consumer, session="s1")
    for _ in range(2):
        factories.message(consumer, session="s2")
    run_once(BY_NAME["take snapshot"])
    assert rows(
        "SELECT backlog, parked, sessions, held_sessions, oldest_at IS NOT NULL"
        " FROM comboio_consumer_snapshot WHERE consumer = %(id)s",
        id=consumer,
    ) == [(5, 3, 2, 1, True)]
    assert sorted(row[0] for row in rows("SELECT backlog FROM comboio_session_snapshot")) == [2, 3]


def test_a_held_session_with_nothing_behind_it_is_shown_too() -> None:
    consumer = factories.consumer(when_dead="hold")
    factories.message(consumer, state="dead", session="s1", holds=True)
    run_once(BY_NAME["take snapshot"])
    assert rows("SELECT backlog FROM comboio_session_snapshot") == [(0,)]


def test_two_processes_never_do_the_same_chore_at_once() -> None:
    other = connections.connect()
    other.execute("SELECT pg_advisory_xact_lock(hashtextextended('comboio chore slow', 0))")
    chore = Chore(name="slow", every_seconds=1, run=lambda _cursor: 1)
    assert run_once(chore) == 0
    other.rollback()
    other.close()
    assert run_once(chore) == 1


def test_a_chore_that_fails_does_not_stop_the_others() -> None:
    done = Event()

    def fail(_cursor: object) -> int:
        run("SELECT 1/0")
        return 0

    def work(_cursor: object) -> int:
        done.set()
        return 1

    stop = Event()
    chores = (
        Chore(name="fails", every_seconds=0.05, run=fail),
        Chore(name="works", every_seconds=0.05, run=work),
    )
    thread = Thread(target=clock.run, args=(stop, chores))
    thread.start()
    assert done.wait(10)
    done.clear()
    assert done.wait(10)
    stop.set()
    thread.join(5)
    assert not thread.is_alive()


def test_rows_of_ended_processes_go_only_when_they_name_no_suspect() -> None:
    with consuming(lambda _payload, _message: None):
        ((receipt,),) = send(delivery("a"))
        run(
            "INSERT INTO comboio_worker (process, host, pid, ids, at)"
            " VALUES ('child', 'h', 1, ARRAY[%(id)s]::bigint[], now() - interval '1 hour')",
            id=receipt.message_id,
        )
        run_once(BY_NAME["prune workers"])
        assert one("SELECT count(*) FROM comboio_worker") == 1
        wait_until(lambda: drain_all() == 0 and one("SELECT count(*) FROM comboio_done"), 10)
        run_once(BY_NAME["prune workers"])
    assert one("SELECT count(*) FROM comboio_worker") == 0


def test_a_hold_of_a_consumer_ends_when_its_time_has_come() -> None:
    consumer = factories.consumer(held_by="anna")
    run_once(BY_NAME["end holds"])
    assert one("SELECT held FROM comboio_consumer WHERE id = %(id)s", id=consumer)
    run("UPDATE comboio_consumer SET held_until = now() - interval '1 second'")
    run_once(BY_NAME["end holds"])
    assert not one("SELECT held FROM comboio_consumer WHERE id = %(id)s", id=consumer)


def test_deltas_that_are_written_while_folding_are_kept() -> None:
    with psycopg.connect(**connections.parameters()) as other:
        rollup.add(other.cursor(), [(1, "received", "new", 1.0)])
        run_once(BY_NAME["fold counters"])
        other.commit()
    run_once(BY_NAME["fold counters"])
    assert one("SELECT value FROM comboio_total") == 1.0
