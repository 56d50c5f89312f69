"""What takes a consumer's time, and what its workers do now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from monitor.reports import consumer_work
from tests import factories, factory_figures
from tests.rows import one, run

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)


def test_types_come_by_their_time_with_their_share() -> None:
    mine, other = factories.consumer(), factories.consumer()
    factory_figures.type_hour(mine, "quick", runs=1000, seconds=1)
    factory_figures.type_hour(mine, "slow", runs=10, seconds=3)
    factory_figures.type_hour(mine, "", runs=1, seconds=0, is_rest=True)
    factory_figures.type_hour(other, "not mine", runs=1, seconds=99)
    found = consumer_work.types(mine, since=NOW - timedelta(hours=24))
    assert [(row.type, row.share) for row in found.rows] == [
        ("slow", 0.75),
        ("quick", 0.25),
        ("", 0),
    ]
    assert [row.is_rest for row in found.rows] == [False, False, True]
    assert (found.rows[0].mean_milliseconds, found.types) == (300.0, 3)


def test_only_the_slowest_types_are_listed_and_all_are_counted() -> None:
    owner = factories.consumer()
    for number in range(30):
        factory_figures.type_hour(owner, f"type-{number}", runs=1, seconds=number)
    found = consumer_work.types(owner, since=NOW)
    assert (len(found.rows), found.types, found.rows[0].type) == (8, 30, "type-29")


def test_a_worker_tells_message_session_and_since_when() -> None:
    owner = factories.consumer()
    running, next_one = factories.message(owner, session="acc-1"), factories.message(owner)
    slot = factory_figures.worker(process="child", ids=[running, next_one])
    run(
        "UPDATE comboio_worker SET message_id = %(m)s, since = now() - interval '3 s',"
        " told_at = clock_timestamp(), release = '7' WHERE slot = %(slot)s",
        m=running,
        slot=slot,
    )
    (found,) = consumer_work.workers(owner)
    assert (found.message_id, found.session, found.batch) == (running, "acc-1", 2)
    assert found.since == one("SELECT now() - interval '3 s'")
    assert found.release == "7"


def test_between_two_messages_the_batch_says_whose_it_is() -> None:
    mine, other = factories.consumer(), factories.consumer()
    factory_figures.worker(process="child", ids=[factories.message(mine)])
    (found,) = consumer_work.workers(mine)
    assert (found.message_id, found.since) == (None, None)
    assert consumer_work.workers(other) == ()


def test_a_worker_without_heartbeat_or_work_is_not_listed() -> None:
    owner = factories.consumer()
    factory_figures.worker(process="child", ids=[factories.message(owner)], seconds_ago=60)
    factory_figures.worker(process="child")
    assert consumer_work.workers(owner) == ()
