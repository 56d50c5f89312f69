"""Types by the hour: counted by the engine, folded by the clock, bounded."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.db import connection

from monitor.engine import histogram
from monitor.reports import counters
from monitor.reports.reading import reading
from monitor.store import rollup
from monitor.store.queue import Finished
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import one, rows

pytestmark = pytest.mark.django_db(transaction=True)
TYPES = "SELECT type, is_rest, runs, seconds FROM comboio_type_hour ORDER BY is_rest, type"


def _fold(*deltas: rollup.Delta) -> None:
    with connection.cursor() as cursor:
        rollup.add(cursor, deltas)
        rollup.fold(cursor, 20_000)


def _of(types: Sequence[str]) -> list[rollup.Delta]:
    return [(1, rollup.TYPE_RUNS, each, 1.0) for each in types]


def _finished(type_: str, milliseconds: float) -> Finished:
    values = {"lane": 256, "session": 1, "id": 1, "attempts": 1, "result": None}
    return Finished(type=type_, milliseconds=milliseconds, **values)


def test_a_batch_adds_two_rows_for_each_of_its_types() -> None:
    batch = [_finished("a", 4000.0), _finished("a", 1000.0), _finished("b", 500.0)] * 50
    found = [each for each in histogram.counters(batch, 0) if each[0].startswith("type_")]
    assert sorted(found) == [
        ("type_runs", "a", 100.0),
        ("type_runs", "b", 50.0),
        ("type_seconds", "a", 250.0),
        ("type_seconds", "b", 25.0),
    ]


def test_runs_of_the_engine_stand_under_their_type() -> None:
    with consuming(lambda _payload, _message: None):
        send(
            delivery("a", type="opened"), delivery("b", type="opened"), delivery("c", type="closed")
        )
        drain_all()
    _fold()
    assert rows("SELECT type, runs FROM comboio_type_hour ORDER BY type") == [
        ("closed", 1.0),
        ("opened", 2.0),
    ]


def test_a_type_grows_with_each_fold_and_has_no_minute_and_no_total() -> None:
    _fold(*_of(["a"]), (1, rollup.TYPE_SECONDS, "a", 0.5))
    _fold(*_of(["a"]), (1, rollup.TYPE_SECONDS, "a", 0.25), (1, "received", "new", 1.0))
    assert rows(TYPES) == [("a", False, 2.0, 0.75)]
    assert rows("SELECT name FROM comboio_rollup UNION SELECT name FROM comboio_total") == [
        ("received",)
    ]


def test_deltas_of_types_are_no_counter_while_they_wait() -> None:
    with connection.cursor() as cursor:
        rollup.add(cursor, [*_of(["a"]), (1, "received", "new", 1.0)])
    with reading() as cursor:
        assert [each.name for each in counters.totals(cursor)] == ["received"]


def test_of_very_many_types_the_first_are_kept_and_the_others_are_one() -> None:
    known = [f"type-{number:04}" for number in range(rollup.TYPES_AN_HOUR - 1)]
    _fold(*_of(known))
    _fold(*_of(["type-0000", "a new one", "b new one", "c new one", ""]))
    assert one("SELECT count(*) FROM comboio_type_hour WHERE NOT is_rest") == rollup.TYPES_AN_HOUR
    assert rows("SELECT runs FROM comboio_type_hour WHERE type = 'type-0000'") == [(2.0,)]
    assert rows("SELECT type, runs FROM comboio_type_hour WHERE is_rest") == [("", 3.0)]
    _fold(*_of(["d new one"]))
    assert one("SELECT sum(runs) FROM comboio_type_hour") == len(known) + 6


def test_another_consumer_has_its_own_bound() -> None:
    _fold(*_of([f"type-{number}" for number in range(rollup.TYPES_AN_HOUR + 1)]))
    _fold((2, rollup.TYPE_RUNS, "mine", 1.0))
    assert rows("SELECT type FROM comboio_type_hour WHERE consumer = 2") == [("mine",)]
