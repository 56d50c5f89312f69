"""What a verb does while somebody else holds its rows: it waits a little, then says so."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.db import connection

from monitor.domain.actor import Permission
from monitor.domain.errors import RefusedError
from monitor.domain.states import AlertKind
from monitor.operations import messages, mismatches, transaction
from monitor.store import alerts, connections
from tests import factories
from tests.activity import BLOCKED
from tests.monitor.operations import scenes
from tests.monitor.operations.scenes import Scene, everything, version
from tests.people import CLARA
from tests.rows import one, rows
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

_LANE_VERBS = (
    scenes.requeue,
    scenes.discard,
    scenes.restore,
    scenes.hold_session,
    scenes.resume_session,
    scenes.accept_second,
)


def _lock_all_lanes(worker: psycopg.Connection[Any]) -> None:
    worker.execute("SELECT lane FROM comboio_lane ORDER BY lane FOR UPDATE")


def _beside(worker: psycopg.Connection[Any], verb: Callable[[], Any]) -> Any:
    """Start the verb, wait until it waits for the worker's locks, let the worker commit."""

    def run() -> Any:
        try:
            return verb()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        outcome = pool.submit(run)
        wait_until(lambda: one(BLOCKED))
        worker.commit()
        return outcome.result(timeout=10)


@pytest.mark.parametrize("make", _LANE_VERBS, ids=lambda make: make.__name__)
def test_a_lane_that_stays_locked_is_told_in_words_and_nothing_is_changed(
    make: Callable[[], Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "LOCK_SECONDS", 0.05)
    scene = make()
    before = everything()
    with connections.connect() as worker:
        _lock_all_lanes(worker)
        with pytest.raises(RefusedError, match=r"busy right now.*Try again"):
            scene.use(CLARA)
    assert everything() == before
    assert scene.use(CLARA).count == 1


def test_a_hold_returns_only_when_the_running_batch_is_over() -> None:
    scene = scenes.hold_session()
    with connections.connect() as worker:
        _lock_all_lanes(worker)
        done = _beside(worker, lambda: scene.use(CLARA))
    assert done.count == 1


def test_an_alert_that_a_worker_raises_at_the_same_moment_stays_open() -> None:
    owner = factories.consumer()
    first, second = (factories.message(owner, state="dead", session=s) for s in ("a", "b"))
    messages.requeue(CLARA, second, seen=version("comboio_dead", second))
    seen = version("comboio_dead", first)
    cause = one("SELECT cause FROM comboio_dead")
    with connections.connect() as worker:
        worker.execute(
            "WITH gone AS (DELETE FROM comboio_ready WHERE id = %s RETURNING *)"
            " INSERT INTO comboio_dead (id, consumer, lane, session, reason, cause)"
            " SELECT id, %s, lane, session, 'poison', %s FROM gone",
            [second, owner, cause],
        )
        dead = alerts.Alert(
            kind=AlertKind.DEAD_LETTER, consumer=owner, subject=cause, title="t", target=second
        )
        alerts.raise_many(worker.cursor(), [dead])
        _beside(worker, lambda: messages.requeue(CLARA, first, seen=seen))
    assert rows("SELECT id FROM comboio_dead") == [(second,)]
    assert rows("SELECT state FROM comboio_alert") == [("open",)]


def test_a_mismatch_that_comes_in_at_the_moment_of_a_verdict_keeps_its_alert() -> None:
    owner = factories.consumer()
    first = factories.message(owner, state="done")
    number = factories.mismatch(first, payload={"n": 2})
    seen = version("comboio_mismatch", number)
    with connections.connect() as receiver:
        receiver.execute(
            "INSERT INTO comboio_mismatch (message_id, consumer, fingerprint, hash_version,"
            " content_type, payload, headers, type) VALUES (%s, %s, 'x', 1, '', '', '{}', '')",
            [first, owner],
        )
        other = alerts.Alert(
            kind=AlertKind.MISMATCH, consumer=owner, subject=str(first), title="t", target=1
        )
        alerts.raise_many(receiver.cursor(), [other])
        _beside(receiver, lambda: mismatches.keep_first(CLARA, number, seen=seen, reason=""))
    assert rows("SELECT state FROM comboio_alert") == [("open",)]


def test_a_statement_that_takes_too_long_is_told_as_busy() -> None:
    with (
        pytest.raises(RefusedError, match="busy right now"),
        transaction.act(CLARA, Permission.OPERATE) as cursor,
    ):
        cursor.execute("SET LOCAL statement_timeout = '20ms'; SELECT pg_sleep(10)")


def test_an_error_that_is_no_lock_comes_out_as_it_is() -> None:
    with (
        pytest.raises(psycopg.errors.DivisionByZero),
        transaction.act(CLARA, Permission.OPERATE) as cursor,
    ):
        cursor.execute("SELECT 1 / 0")
