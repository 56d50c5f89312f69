"""Alerts: one live row for each cause, whatever raises it at once."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from monitor.domain.states import AlertKind
from monitor.store import alerts, connections
from tests.racing import race
from tests.rows import one, rows

pytestmark = pytest.mark.django_db


def _alert(subject: str, *, title: str = "t", target: int = 1) -> alerts.Alert:
    return alerts.Alert(
        kind=AlertKind.DEAD_LETTER, consumer=1, subject=subject, title=title, target=target
    )


def _raise(*raised: alerts.Alert) -> int:
    with connection.cursor() as cursor:
        return alerts.raise_many(cursor, raised)


def test_equal_causes_of_one_batch_add_up_and_the_newest_is_shown() -> None:
    assert _raise(_alert("a", title="old", target=1), _alert("a", title="new", target=2)) == 1
    assert rows("SELECT count, title, target FROM comboio_alert") == [(2, "new", 2)]


def test_a_cause_that_comes_again_raises_its_live_alert() -> None:
    for _ in range(3):
        _raise(_alert("a"))
    assert rows("SELECT count, state FROM comboio_alert") == [(3, "open")]


def test_a_cause_that_comes_again_after_it_was_resolved_opens_a_new_one() -> None:
    _raise(_alert("a"))
    with connection.cursor() as cursor:
        assert alerts.resolve(cursor, AlertKind.DEAD_LETTER, 1, "a") == 1
        assert alerts.resolve(cursor, AlertKind.DEAD_LETTER, 1, "a") == 0
    _raise(_alert("a"))
    assert rows("SELECT state FROM comboio_alert ORDER BY id") == [("resolved",), ("open",)]


def test_none_is_no_statement() -> None:
    assert _raise() == 0


@pytest.mark.django_db(transaction=True)
def test_batches_with_causes_in_opposite_order_do_not_deadlock() -> None:
    subjects = [f"cause {n:03}" for n in range(50)]

    def batch(order: list[str]) -> int:
        with connections.connect() as own:
            total = 0
            for _ in range(10):
                total += alerts.raise_many(own.cursor(), [_alert(each) for each in order])
                own.commit()
            return total

    outcomes: list[Any] = race(
        lambda: batch(subjects), lambda: batch(subjects[::-1]), lambda: batch(subjects[25:])
    )
    assert outcomes == [500, 500, 250]
    assert one("SELECT sum(count) FROM comboio_alert") == 1250
