"""The overview's verdict, the consumers' table, duplicates and the system's books."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from monitor.reports import consumers, dead_letters, duplicates, overview, system
from monitor.reports.consumers import ConsumerState
from monitor.reports.errors import ReportTimeoutError
from monitor.reports.overview import ProblemKind
from monitor.reports.reading import reading
from tests import factories, factory_effects, factory_figures

LONG_AGO = datetime.now(UTC) - timedelta(minutes=10)


def test_a_green_day_has_no_problems(db: None) -> None:
    consumer = factories.consumer()
    factories.message(consumer, state="done")
    factory_figures.snapshot()
    found = overview.read()
    assert (found.problems, found.totals.alerts_open) == ((), 0)
    assert [row.state for row in found.consumers] == [ConsumerState.IDLE]


def test_problems_come_worst_first_with_the_verb_that_mends_them(db: None) -> None:
    consumer = factories.consumer(name="payments", when_dead="hold")
    dead = factories.message(consumer, state="dead", holds=True)
    factories.message(consumer)
    factories.mismatch(factories.message(consumer, session="s2", state="done"))
    held = factories.consumer(name="invoices", held_by="anna")
    factories.message(held)
    factory_figures.snapshot()
    factory_figures.worker()
    found = {problem.kind: problem for problem in overview.read().problems}
    assert list(found) == [
        ProblemKind.HELD_SESSION,
        ProblemKind.HELD_CONSUMER,
        ProblemKind.DEAD_LETTER,
        ProblemKind.MISMATCH,
    ]
    session, cause = found[ProblemKind.HELD_SESSION], found[ProblemKind.DEAD_LETTER]
    row = dead_letters.detail(dead)
    assert row is not None
    assert (session.verb, session.target_kind, session.target_id) == ("requeue", "message", dead)
    assert (session.seen, session.size, session.subject) == (row.version, 1, "s1")
    assert (cause.verb, cause.subject, cause.seen) == ("requeue_cause", row.cause, row.version)
    assert (found[ProblemKind.HELD_CONSUMER].verb, found[ProblemKind.MISMATCH].verb) == (
        "resume",
        "keep_first",
    )


def test_a_session_held_by_a_person_is_resumed_not_requeued(db: None) -> None:
    consumer = factories.consumer()
    number = factories.message(consumer)
    row = factories.one("SELECT session FROM comboio_message WHERE id = %(id)s", id=number)
    factories.gate(row, held_by="anna")
    factory_figures.snapshot()
    factory_figures.worker()
    (problem,) = overview.read().problems
    assert (problem.verb, problem.target_kind, problem.target_id) == ("resume", "session", row)


def test_messages_without_any_worker_are_the_first_problem(db: None) -> None:
    consumer = factories.consumer()
    factories.message(consumer)
    factory_figures.snapshot()
    problem = overview.read().problems[0]
    assert (problem.kind, problem.size) == (ProblemKind.NO_WORKERS, 1)


def test_a_backlog_that_does_not_move_is_stalled_and_blocked(db: None) -> None:
    consumer = factories.consumer()
    factories.message(consumer, received_at=LONG_AGO)
    factory_figures.snapshot()
    factory_figures.worker()
    found = overview.read()
    assert [problem.kind for problem in found.problems] == [ProblemKind.STALLED]
    assert found.consumers[0].state is ConsumerState.BLOCKED
    factory_figures.counters(consumer, name="processed", label="done")
    assert overview.read().problems == ()


def test_old_figures_are_a_problem_only_while_something_waits(db: None) -> None:
    consumer = factories.consumer()
    factory_figures.worker()
    assert overview.read().problems == ()
    factories.message(consumer)
    assert [p.kind for p in overview.read().problems] == [ProblemKind.STALE_FIGURES]


@pytest.mark.parametrize(
    ("counters", "state"),
    [
        ({}, ConsumerState.IDLE),
        ({"done": 100}, ConsumerState.OK),
        ({"done": 100, "failed": 2}, ConsumerState.OK),
        ({"done": 100, "failed": 20}, ConsumerState.DEGRADED),
        ({"done": 100, "dead": 1}, ConsumerState.DEGRADED),
    ],
)
def test_the_state_of_a_consumer_follows_its_last_minutes(
    db: None, counters: dict[str, int], state: ConsumerState
) -> None:
    consumer = factories.consumer()
    for label, value in counters.items():
        factory_figures.counters(consumer, name="received", label="new", value=value)
        factory_figures.counters(consumer, name="processed", label=label, value=value)
    assert consumers.every()[0].state is state


def test_rates_and_series_come_from_minutes_and_unfolded_deltas(db: None) -> None:
    consumer = factories.consumer()
    factory_figures.counters(consumer, name="received", label="new", value=30, folded=True)
    factory_figures.counters(consumer, name="received", label="duplicate", value=10)
    factory_figures.counters(consumer, name="duplicates", label="repeated", value=10)
    row = consumers.every()[0]
    assert (len(row.received_series), sum(row.received_series)) == (60, 40)
    assert row.duplicate_ratio == 0.25
    assert 40 / 121 < row.received_per_second < 40 / 59


def test_the_duplicates_page(db: None) -> None:
    consumer = factories.consumer()
    number = factories.message(consumer, key="order-7")
    for gap in (0.5, 30.0, 7_200.0):
        factories.duplicate(number, gap_seconds=gap)
    factory_figures.counters(consumer, name="received", label="new", value=9)
    factory_figures.counters(consumer, name="received", label="duplicate", value=3)
    factory_figures.counters(consumer, name="duplicates", label="repeated", value=3)
    found = duplicates.read()
    assert (found.ratio_window, found.runs_avoided_total, found.gaps_sampled) == (0.25, 3, 3)
    assert [(b.up_to_seconds, b.count) for b in found.gaps if b.count] == [
        (1, 1),
        (60, 1),
        (21_600, 1),
    ]
    assert [(key.key, key.recent, key.total) for key in found.top_keys] == [("order-7", 3, 3)]
    assert (found.series[0].cause, found.series[0].total) == ("repeated", 3)
    assert duplicates.read(consumer=consumer + 1).series == ()


def test_the_consumer_detail_has_policy_hold_and_mean(db: None) -> None:
    consumer = factories.consumer(name="payments", held_by="anna")
    factory_figures.counters(consumer, name="handler_seconds_bucket", label="0.005", value=3)
    factory_figures.counters(consumer, name="handler_seconds_bucket", label="+Inf", value=1)
    factory_figures.counters(consumer, name="handler_seconds_sum", value=2)
    found = consumers.detail(consumer)
    assert found is not None
    assert (found.held_by, found.held_reason) == ("anna", "downstream is away")
    assert found.policy["retry_limit"] == 5
    assert found.mean_milliseconds == 500
    assert consumers.detail(32_000) is None
    assert (consumer, "payments") in consumers.names()


def test_the_books_balance_and_a_missing_message_shows(db: None) -> None:
    consumer = factories.consumer()
    for state in ("ready", "dead", "discarded", "done"):
        factories.message(consumer, state=state, session="")
    factory_figures.counters(consumer, name="received", label="new", value=4)
    factory_figures.counters(consumer, name="processed", label="done")
    found = system.read()
    assert (found.books.accepted, found.books.balanced) == (4, True)
    factories.run("DELETE FROM comboio_ready")
    assert system.read().books.balanced is False
    assert "comboio_message" in {table.name for table in found.tables}


def test_the_books_count_what_its_sender_delayed(db: None) -> None:
    consumer = factories.consumer()
    factories.message(consumer)
    factory_figures.counters(consumer, name="received", label="new", value=1)
    factories.run(
        "INSERT INTO comboio_waiting"
        " SELECT id, consumer, lane, session, NULL, now() FROM comboio_message"
    )
    factories.run("DELETE FROM comboio_ready")
    assert system.read().books.balanced


def test_workers_show_their_heartbeat_and_their_batch(db: None) -> None:
    factory_figures.worker(ids=[1, 2])
    factory_figures.worker(seconds_ago=60)
    live, dead = system.read().workers
    assert (live.is_live, live.running, dead.is_live) == (True, (1, 2), False)


def test_a_report_that_takes_too_long_says_so_in_words(db: None) -> None:
    with (
        pytest.raises(ReportTimeoutError, match=r"Stopped after 0\.05 s.*Narrow"),
        reading(0.05) as cursor,
    ):
        cursor.execute("SELECT pg_sleep(5)")
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)


def test_a_worker_at_work_is_counted_for_its_consumer_and_an_idle_one_for_none(db: None) -> None:
    consumer = factories.consumer()
    batch = [factories.message(consumer, session=f"s{n}") for n in range(2)]
    done = factories.message(consumer, state="done")
    factory_figures.worker(process="child", ids=batch)
    factory_figures.worker(process="child", ids=[done])
    factory_figures.worker(process="child")
    assert [row.workers for row in consumers.every()] == [1]


def test_a_lease_counts_as_a_worker_until_it_runs_out(db: None) -> None:
    consumer = factories.consumer()
    for n, left in enumerate((20.0, -1.0)):
        number = factories.message(consumer, session=f"s{n}")
        factory_effects.lease(number, slot=n + 1, seconds_left=left)
    assert [row.workers for row in consumers.every()] == [1]


def test_each_problem_tells_how_it_grew_in_the_last_ten_minutes(db: None) -> None:
    consumer = factories.consumer(name="payments", when_dead="hold")
    factories.message(consumer, state="dead", holds=True, received_at=LONG_AGO)
    for _ in range(3):
        factories.message(consumer)
    for n, ago in enumerate(("1 minute", "11 minutes")):
        factories.message(consumer, state="dead", session=f"d{n}", cause="poison: x")
        factories.run(
            f"UPDATE comboio_dead SET at = now() - interval '{ago}' WHERE id ="
            " (SELECT max(id) FROM comboio_dead)"
        )
        factories.mismatch(factories.message(consumer, session=f"m{n}", state="done"))
    factories.run("UPDATE comboio_mismatch SET first_at = now() - interval '1 hour'")
    held = factories.consumer(name="invoices", held_by="anna")
    factory_figures.counters(held, name="received", label="new", value=7)
    factory_figures.counters(held, name="processed", label="done", value=9)
    factory_figures.snapshot()
    factory_figures.worker()
    grown = {(one.kind, one.subject): one.grown for one in overview.read().problems}
    assert grown[ProblemKind.HELD_SESSION, "s1"] == 3
    assert grown[ProblemKind.HELD_CONSUMER, ""] == -2
    assert grown[ProblemKind.DEAD_LETTER, "poison: x"] == 1
    assert [count for (kind, _), count in grown.items() if kind is ProblemKind.MISMATCH] == [0]
