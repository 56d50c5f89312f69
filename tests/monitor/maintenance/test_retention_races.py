"""A copy that comes while its key goes is a duplicate or new; a judged payload stays judged."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import psycopg
import pytest

from monitor.domain.actor import SYSTEM
from monitor.domain.message import Receipt
from monitor.engine import ingest
from monitor.maintenance import clock, retention
from monitor.maintenance.chores import LONG_CHORES
from monitor.operations import mismatches
from monitor.store import connections
from tests import factory_effects
from tests.engine import consuming, delivery, drain_all, send
from tests.faults.injectors import waits_for_a_lock
from tests.monitor.maintenance.aged import age, is_remembered, is_there, purge
from tests.rows import one, rows
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _consumer() -> Iterator[None]:
    with consuming(lambda _payload, _message: None):
        yield


@pytest.fixture
def old_one() -> int:
    """A message that was done, and purged, and whose key may go now."""
    ((receipt,),) = send(delivery("a"))
    drain_all()
    age(8)
    purge()
    age(8)
    return receipt.message_id


def test_the_clock_purges() -> None:
    ((receipt,),) = send(delivery("a"))
    drain_all()
    age(8)
    for each in retention.PURGES:
        each.again()
    stop = Event()
    clocks = Thread(target=clock.run, args=(stop, LONG_CHORES))
    clocks.start()
    try:
        wait_until(lambda: not is_there(receipt.message_id), 20, what="a purge by the clock")
    finally:
        stop.set()
        clocks.join(10)
    assert is_remembered(receipt.message_id)


def receive(cursor: Any, *bodies: Any) -> list[Receipt]:
    """Deliveries of the same key with these bodies."""
    return [each for (each,) in ingest.accept(cursor, [delivery("a", body) for body in bodies])]


def test_a_key_on_which_a_duplicate_is_counted_right_now_stays_for_this_time(old_one: int) -> None:
    with connections.connect() as other:
        (receipt,) = receive(other.cursor(), None)
        purge()
        assert is_remembered(old_one)
    assert receipt.message_id == old_one
    purge()
    assert not is_remembered(old_one)
    assert one("SELECT count(*) FROM comboio_duplicate") == 0


def test_a_copy_that_meets_its_key_on_its_way_out_is_new(
    old_one: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Receipt] = []

    def copy() -> None:
        with connections.connect(application_name="sender") as own:
            told.extend(receive(own.cursor(), None))

    sender = Thread(target=copy)
    forget = retention.retention.forget_keys

    def forget_and_wait(*values: Any, **named: Any) -> int:
        number = forget(*values, **named)
        if number:
            sender.start()
            wait_until(lambda: waits_for_a_lock("sender"), what="a copy that waits for the purge")
        return number

    monkeypatch.setattr(retention.retention, "forget_keys", forget_and_wait)
    purge()
    sender.join(10)
    assert [each.verdict for each in told] == ["new"]
    assert told[0].message_id != old_one
    assert rows("SELECT message_id FROM comboio_dedup") == [(told[0].message_id,)]


def test_a_callback_that_speaks_while_its_message_goes_is_heard_first() -> None:
    ((receipt,),) = send(delivery("a"))
    drain_all()
    factory_effects.effect(receipt.message_id, state="completed")
    age(8)
    with connections.connect() as callback:
        callback.execute("UPDATE comboio_effect SET conflict = 'the provider says it did not'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            purge()
    purge()
    assert is_there(receipt.message_id)


def test_a_payload_that_was_accepted_as_second_is_known_as_long_as_it_still_comes(
    old_one: int,
) -> None:
    ((new,),) = send(delivery("a", {"n": 2}))  # the message is gone, its key is not
    assert new.verdict == "mismatch"
    purge()
    assert is_remembered(old_one)
    ((number, version),) = rows("SELECT id, version FROM comboio_mismatch")
    mismatches.keep_first(SYSTEM, number, seen=version, reason="")
    age(13)
    purge()
    ((again,),) = send(delivery("a", {"n": 2}))
    assert again.verdict == "mismatch"
    assert one("SELECT count(*) FROM comboio_mismatch WHERE verdict IS NULL") == 0
    age(15)
    purge()
    assert one("SELECT count(*) FROM comboio_mismatch") == 0
    assert not is_remembered(old_one)
