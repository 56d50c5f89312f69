"""How fast a consumer is, when nothing will wait any more, and what more workers would not help."""

from __future__ import annotations

import pytest

from monitor.reports import consumers
from tests import factories, factory_figures

pytestmark = pytest.mark.django_db


def _row(owner: int) -> consumers.ConsumerRow:
    (row,) = [each for each in consumers.every() if each.id == owner]
    return row


def _backlog(owner: int, sessions: dict[str, int]) -> None:
    for session, count in sessions.items():
        for _n in range(count):
            factories.message(owner, session=session)
    factory_figures.snapshot()


@pytest.mark.parametrize(
    ("runs", "milliseconds"),
    [
        ({}, None),
        ({"0.005": 95, "0.25": 5}, 5.0),
        ({"0.005": 90, "0.25": 10}, 250.0),
        ({"+Inf": 1}, 60_000.0),
    ],
)
def test_ninety_five_of_a_hundred_runs_took_no_longer(
    runs: dict[str, int], milliseconds: float | None
) -> None:
    owner = factories.consumer()
    for label, value in runs.items():
        factory_figures.counters(owner, name="handler_seconds_bucket", label=label, value=value)
    assert _row(owner).p95_milliseconds == milliseconds


def test_the_end_of_a_backlog_follows_from_how_it_shrinks() -> None:
    owner = factories.consumer()
    _backlog(owner, {f"s{n}": 1 for n in range(30)})
    factory_figures.counters(owner, name="processed", label="done", value=900)
    factory_figures.counters(owner, name="received", label="new", value=600)
    row = _row(owner)
    assert row.empty_seconds is not None
    assert 24 <= row.empty_seconds <= 30  # 300 fewer in 4 to 5 minutes, and 30 wait


def test_a_backlog_that_grows_has_no_end() -> None:
    owner = factories.consumer()
    _backlog(owner, {"s": 3})
    factory_figures.counters(owner, name="received", label="new", value=600)
    assert _row(owner).empty_seconds is None


def test_one_session_that_holds_most_of_a_backlog_is_named_as_what_limits() -> None:
    owner, other = factories.consumer(), factories.consumer()
    _backlog(owner, {"hot": 80, "a": 30})
    _backlog(other, {f"s{n}": 11 for n in range(10)})
    assert _row(owner).is_one_session
    assert not _row(other).is_one_session
