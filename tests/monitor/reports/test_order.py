"""What the reports tell of gaps, delays and throttled consumers: the same on every page."""

from __future__ import annotations

import pytest
from django.db import connection
from prometheus_client import generate_latest

from monitor.domain.states import State
from monitor.metrics import collector, figures
from monitor.reports import consumers, message_rows, messages, overview, sessions
from monitor.reports.consumers import ConsumerState
from monitor.reports.problems import ProblemKind
from tests import factories, factory_figures, factory_order
from tests.factory_order import session_of
from tests.rows import run

pytestmark = pytest.mark.django_db


def _scene() -> tuple[int, int]:
    """A session that waits for 2 and 3, one message of it delayed: (consumer, session)."""
    owner = factory_order.numbered(name="orders")
    ids = [factory_order.message(owner, number) for number in (5, 4, 9)]
    factory_order.delay(ids[2])
    session = session_of(ids[0])
    factory_order.gap(session, missing=2, before=4)
    factory_figures.snapshot()
    return owner, session


def test_a_gap_blocks_its_session_in_the_list() -> None:
    _owner, session = _scene()
    (row,) = sessions.page(blocked=True).page.rows
    assert (row.id, row.blocker, row.delayed) == (session, "gap", 1)
    assert row.gap is not None
    assert (row.gap.missing, row.gap.last, row.gap.before) == (2, 3, 4)
    assert row.blocked_since == row.gap.since


def test_the_head_and_the_strip_of_a_numbered_session_follow_its_numbers() -> None:
    _owner, session = _scene()
    found = sessions.detail(session)
    assert found is not None
    assert [row.sequence for row in found.strip] == [4, 5, 9]
    assert found.head is not None
    assert (found.head.sequence, found.next, found.delayed) == (4, 2, 1)


def test_a_held_session_stays_held_although_a_number_is_missing() -> None:
    _owner, session = _scene()
    factories.gate(session, held_by="bert")
    (row,) = sessions.page().page.rows
    assert row.blocker == "held"


def test_a_delayed_message_waits_until_it_is_due() -> None:
    number = factories.message(factories.consumer())
    factory_order.delay(number)
    with connection.cursor() as cursor:
        (row,) = message_rows.of(cursor, [number])
    found = messages.detail(number)
    assert found is not None
    assert row.state == State.WAITING
    assert row.due_at == found.not_before
    assert [each.id for each in messages.page(state=State.WAITING).rows] == [number]


def test_a_session_that_only_has_delayed_messages_is_listed_once() -> None:
    owner = factories.consumer()
    for _ in range(2):
        factory_order.delay(factories.message(owner))
    (row,) = sessions.page().page.rows
    assert (row.blocker, row.backlog, row.delayed) == ("delayed", 0, 2)
    assert sessions.page(blocked=True).page.rows == ()


def test_the_overview_names_gaps_that_lasted_and_throttled_consumers() -> None:
    owner, session = _scene()
    factory_order.throttle(owner)
    found = {each.kind: each for each in overview.read().problems}
    gap, throttled = found[ProblemKind.GAP], found[ProblemKind.THROTTLED_CONSUMER]
    assert (gap.numbers, gap.session_id, gap.size) == ((2, 3), session, 2)
    assert (throttled.target_kind, throttled.target_id) == ("consumer", owner)
    run("UPDATE comboio_sequence SET alerted_at = NULL")
    assert ProblemKind.GAP not in {each.kind for each in overview.read().problems}


def test_a_consumer_whose_every_session_waits_for_a_number_is_not_called_stalled() -> None:
    owner, _session = _scene()
    run("UPDATE comboio_message SET received_at = now() - interval '1 h'")
    factory_figures.snapshot()
    (row,) = [each for each in consumers.every() if each.id == owner]
    assert (row.gaps, row.sessions, row.is_stalled) == (1, 1, False)
    run("UPDATE comboio_sequence SET gap_since = NULL")
    factory_figures.snapshot()
    (row,) = [each for each in consumers.every() if each.id == owner]
    assert row.is_stalled


def test_consumers_and_metrics_say_the_same() -> None:
    owner, _session = _scene()
    factory_order.throttle(owner)
    (row,) = [each for each in consumers.every() if each.id == owner]
    assert row.throttle is not None
    assert (row.state, row.throttle.failures) == (ConsumerState.THROTTLED, 7)
    text = generate_latest(collector.registry(figures.Cache())).decode()
    for name, value in {
        "delayed_messages": row.delayed,
        "sessions_with_gap": row.gaps,
        "consumer_throttled": 1,
    }.items():
        assert f'comboio_{name}{{consumer="orders"}} {value:.1f}\n' in text
    assert (row.delayed, row.gaps) == (1, 1)


def test_a_breaker_that_is_not_open_throttles_nobody() -> None:
    owner = factories.consumer()
    factory_order.throttle(owner)
    run("UPDATE comboio_breaker SET opened_at = NULL")
    (row,) = [each for each in consumers.every() if each.id == owner]
    assert row.throttle is None
