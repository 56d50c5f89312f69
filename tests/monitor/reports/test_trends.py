"""Trends: what came, was done, took long, came twice and failed, per bin, known or not."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from monitor.maintenance import chores
from monitor.reports import consumers, trends
from monitor.reports.trends import RANGES, Range
from monitor.store import rollup
from tests import factories, factory_figures
from tests.rows import one, run

pytestmark = pytest.mark.django_db
HOUR = RANGES[0]


def _minutes_ago(minutes: int) -> datetime:
    return datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=minutes)


def _age(consumer: int, minutes: int) -> None:
    """The consumer, and the product, have been here for so long."""
    run(
        "UPDATE comboio_consumer SET created_at = %(at)s WHERE id IN (0, %(c)s)",
        at=_minutes_ago(minutes),
        c=consumer,
    )


def test_values_are_per_second_of_their_bin() -> None:
    owner = factories.consumer()
    _age(owner, 300)
    factory_figures.counted(owner, _minutes_ago(3), name="received", label="new", value=120)
    factory_figures.counted(owner, _minutes_ago(3), name="received", label="duplicate", value=30)
    factory_figures.counted(owner, _minutes_ago(3), name="duplicates", label="repeated", value=30)
    factory_figures.counted(owner, _minutes_ago(3), name="processed", label="done", value=60)
    factory_figures.counted(owner, _minutes_ago(3), name="processed", label="failed", value=15)
    factory_figures.counted(owner, _minutes_ago(3), name="processed", label="dead", value=5)
    found = trends.read(HOUR)
    place = found.starts.index(_minutes_ago(3))
    assert (found.received[place], found.done[place]) == (2.5, 1.0)
    assert (found.duplicates[place], found.failures[place]) == (0.2, 0.25)
    assert (found.received_sum, found.runs_sum, found.failures_sum) == (150, 80, 20)


def test_nothing_that_came_is_zero_and_nothing_that_is_known_is_a_gap() -> None:
    owner = factories.consumer()
    _age(owner, 10)
    found = trends.read(HOUR)
    born = found.starts.index(_minutes_ago(10))
    assert set(found.received[:born]) == {None}
    assert set(found.received[born:]) == {0.0}
    for values in (found.p50, found.p95, found.p99, found.duplicates, found.failures):
        assert set(values) == {None}, "no runs and no deliveries have no share and no time"


def test_figures_from_before_the_consumer_was_declared_are_known() -> None:
    owner = factories.consumer()
    _age(owner, 0)
    factory_figures.counted(owner, _minutes_ago(20), name="received", label="new", value=60)
    found = trends.read(HOUR)
    place = found.starts.index(_minutes_ago(20))
    assert found.received[place - 1 : place + 2] == (None, 1.0, 0.0)


def test_the_running_bin_counts_over_the_seconds_it_has() -> None:
    owner = factories.consumer()
    factory_figures.counters(owner, name="received", label="new", value=60)
    found = trends.read(HOUR)
    seconds = max((found.now - found.starts[-1]).total_seconds(), 6.0)
    assert found.received[-1] == pytest.approx(60 / seconds)
    assert found.starts[-1] <= found.now < found.until


@pytest.mark.parametrize("range_", RANGES, ids=lambda each: each.name)
def test_every_range_counts_each_delivery_once(range_: Range) -> None:
    owner = factories.consumer()
    span = range_.bins * range_.seconds // 60
    for share in (0.1, 0.5, 0.9):
        at = _minutes_ago(int(span * share))
        factory_figures.counted(owner, at, name="received", label="new", value=10)
    factory_figures.counted(owner, _minutes_ago(span + 60), name="received", value=99)
    factory_figures.counters(owner, name="received", label="new", value=10)
    found = trends.read(range_)
    assert len(found.starts) == range_.bins
    assert found.received_sum == 40
    assert found.starts[1] - found.starts[0] == timedelta(seconds=range_.seconds)


def test_a_week_says_the_same_before_and_after_its_minutes_are_summed() -> None:
    owner = factories.consumer()
    for hours in (27, 30, 31, 90, 160):
        for minute in (1, 7, 55):
            at = _minutes_ago(hours * 60 + minute)
            factory_figures.counted(owner, at, name="received", label="new", value=hours)
    before = trends.read(RANGES[-1])
    with connection.cursor() as cursor:
        assert rollup.compact(cursor, chores._MINUTE_HOURS, 7) > 0
        while rollup.compact(cursor, chores._MINUTE_HOURS, 7):
            pass
    after = trends.read(RANGES[-1])
    assert after.received == before.received
    assert one("SELECT count(*) FROM comboio_rollup WHERE extract(minute FROM minute) <> 0") == 0


def test_minutes_of_the_last_day_stay_as_they_are() -> None:
    owner = factories.consumer()
    for hours in (1, 23, 25):
        at = _minutes_ago(hours * 60 + 7)
        factory_figures.counted(owner, at, name="received", label="new")
    with connection.cursor() as cursor:
        assert rollup.compact(cursor, chores._MINUTE_HOURS, 100) == 0


def test_percentiles_are_upper_bounds_of_buckets() -> None:
    owner = factories.consumer()
    at = _minutes_ago(2)
    for label, runs in (("0.005", 90), ("0.1", 6), ("2.5", 4)):
        factory_figures.counted(owner, at, name="handler_seconds_bucket", label=label, value=runs)
    found = trends.read(HOUR)
    place = found.starts.index(at)
    assert (found.p50[place], found.p95[place], found.p99[place]) == (5.0, 100.0, 2500.0)
    assert found.p95_overall == 100.0


def test_runs_beyond_the_last_bucket_are_told_as_such() -> None:
    owner = factories.consumer()
    factory_figures.counters(owner, name="handler_seconds_bucket", label="+Inf")
    assert math.isinf(trends.read(HOUR).p50[-1] or 0)


def test_the_chart_and_the_board_name_the_same_p95() -> None:
    owner = factories.consumer()
    for label, runs in (("0.005", 90), ("0.25", 10)):
        factory_figures.counters(owner, name="handler_seconds_bucket", label=label, value=runs)
    assert consumers.every()[0].p95_milliseconds == trends.read(HOUR).p95_overall == 250.0


def test_one_consumer_has_its_own_trend() -> None:
    mine, other = factories.consumer(), factories.consumer()
    factory_figures.counters(mine, name="received", label="new", value=3)
    factory_figures.counters(other, name="received", label="new", value=5)
    assert trends.read(HOUR, consumer=mine).received_sum == 3
    assert trends.read(HOUR).received_sum == 8
