"""Twelve thousand requeued while others die: exactly the frozen set moves, all figures agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

import pytest
from django.db import connection

from monitor.domain.actor import Actor
from monitor.domain.errors import RefusedError
from monitor.domain.retry import Retry
from monitor.domain.scope import Scope
from monitor.operations import bulk, carrying
from monitor.reports import requeues
from tests import factories
from tests.engine import consuming, delivery, drain_all, send
from tests.people import ANNA, BERT
from tests.racing import race
from tests.rows import one, rows
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
MANY, LATE = 12_000, 300
REQUEUED = "SELECT object_id FROM comboio_audit WHERE verb = 'requeue'"


@contextmanager
def _beside(*jobs: Callable[[], object]) -> Iterator[None]:
    """Each job again and again in a thread of its own, until the block ends."""
    stop = Event()

    def go_on(job: Callable[[], object]) -> None:
        try:
            while not stop.is_set():
                job()
        finally:
            connection.close()

    threads = [Thread(target=go_on, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(20)


def _work(_payload: object, message: object) -> None:
    is_late = message.key.startswith("late")  # type: ignore[attr-defined]
    if is_late or message.id % 50 == 0:  # type: ignore[attr-defined]
        raise ValueError("still not")


def _send_late() -> None:
    """New messages that fail, and so die of the same cause meanwhile."""
    count = one("SELECT count(*) FROM comboio_message")
    if count < MANY + LATE:
        send(*[delivery(f"late-{count + n}", {"n": n}) for n in range(20)])


def test_exactly_the_frozen_set_moves_and_progress_tells_the_truth() -> None:
    with consuming(_work, when_dead="skip", retry=Retry(limit=1)):
        owner = _owner()
        factories.bury_many(owner, MANY, "poison: ValueError: still not")
        frozen = {row[0] for row in rows("SELECT id FROM comboio_dead")}
        seen = one("SELECT max(version) FROM comboio_dead")
        with _beside(drain_all, carrying.carry_on_all, _send_late):
            wait_until(lambda: one("SELECT count(*) FROM comboio_dead") > MANY, 20)
            done = bulk.start(ANNA, Scope(consumer=owner), up_to_version=seen)
            assert done.target is not None
            told = list(_progress(done.target[1]))
    requeued = [row[0] for row in rows(REQUEUED)]
    assert len(requeued) == len(set(requeued))
    assert set(requeued) == frozen
    last = told[-1]
    failing = sum(1 for each in frozen if each % 50 == 0)
    assert (last.moved, last.processed, last.failed_again) == (MANY, MANY - failing, failing)
    assert all(each.moved + each.gone + each.refused + each.left == MANY for each in told)
    assert all(each.unknown >= 0 for each in told)
    assert [each.moved for each in told] == sorted(each.moved for each in told)
    assert one("SELECT count(*) FROM comboio_done") == MANY - failing + 1  # and the first


def test_two_operators_start_stop_and_go_on_and_none_runs_twice() -> None:
    with consuming(_work, when_dead="skip", retry=Retry(limit=1)):
        owner = _owner()
        factories.bury_many(owner, MANY, "poison: ValueError: still not")
        seen = one("SELECT max(version) FROM comboio_dead")

        def start(actor: Actor) -> object:
            return bulk.start(actor, Scope(consumer=owner), up_to_version=seen, per_second=2000)

        outcomes = race(lambda: start(ANNA), lambda: start(BERT))
        refused = [each for each in outcomes if isinstance(each, RefusedError)]
        assert len(refused) == 1
        number = one("SELECT id FROM comboio_bulk")
        bulk.stop(BERT, number)
        moved = one("SELECT moved FROM comboio_bulk")
        assert carrying.carry_on_all() == 0
        version = one("SELECT version FROM comboio_bulk")
        race(
            lambda: bulk.go_on(ANNA, number, seen=version),
            lambda: bulk.go_on(BERT, number, seen=version),
        )
        with _beside(drain_all, carrying.carry_on_all):
            list(_progress(number))
    assert 0 < moved < MANY
    requeued = [row[0] for row in rows(REQUEUED)]
    assert len(requeued) == len(set(requeued)) == MANY


def _owner() -> int:
    send(delivery("first", "1"))
    drain_all()
    return int(one("SELECT id FROM comboio_consumer WHERE name = 'test.apply'"))


def _progress(number: int) -> Iterator[requeues.RequeueRow]:
    """How it stands, again and again until it has ended."""

    def look() -> requeues.RequeueRow:
        found = requeues.detail(number)
        assert found is not None
        return found.row

    row = look()
    while row.ended_at is None:
        yield row
        wait_until(lambda before=row: look() != before, 60)
        row = look()
    yield row
