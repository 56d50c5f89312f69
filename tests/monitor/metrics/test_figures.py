"""Case C50, many processes, one truth: counters never fall, and a lost database shows."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from prometheus_client import generate_latest

from monitor.maintenance import chores
from monitor.metrics import collector, figures
from monitor.reports.errors import ReportTimeoutError
from tests import engine, racing

_PROCESSES, _BATCHES, _BATCH = 3, 10, 20


@pytest.mark.django_db(transaction=True)
def test_counters_never_fall_while_many_ingest_and_the_clock_folds() -> None:
    """Each scrape is that of another process: a cache of its own, no memory shared."""
    stop = threading.Event()

    def feed(process: int) -> None:
        for batch in range(_BATCHES):
            keys = [f"{process}-{batch}-{number}" for number in range(_BATCH)]
            engine.send(*(engine.delivery(key) for key in [*keys, *keys[:2]]))

    def fold() -> int:
        return _until(stop, lambda: chores.run_once(_chore("fold counters")))

    def watch() -> list[tuple[float, float]]:
        seen: list[tuple[float, float]] = []
        _until(stop, lambda: seen.append(_received()) or 1)
        return seen

    def feed_all() -> None:
        try:
            raced = racing.race(*(lambda each=each: feed(each) for each in range(_PROCESSES)))
            assert raced == [None] * _PROCESSES
        finally:
            stop.set()

    with engine.consuming(lambda _payload, _message: None):
        _, folded, seen = racing.race(feed_all, fold, watch)
        expected = _PROCESSES * _BATCHES * _BATCH, _PROCESSES * _BATCHES * 2
        assert seen == sorted(seen)
        assert folded > 0
        assert _received() == expected
        chores.run_once(_chore("fold counters"))
        assert _received() == expected


def test_many_scrapers_cost_one_reading() -> None:
    calls: list[int] = []
    gate, first = threading.Event(), threading.Event()

    def slow() -> Any:
        calls.append(1)
        first.set()
        gate.wait(10)
        return object()

    cache = figures.Cache(slow)
    found: list[figures.Reading] = []
    threads = [threading.Thread(target=lambda: found.append(cache.get())) for _ in range(8)]
    for thread in threads:
        thread.start()
    first.wait(10)
    gate.set()
    for thread in threads:
        thread.join(10)
    assert len(calls) == 1
    assert len({id(each.figures) for each in found}) == 1


def test_without_a_database_the_scrape_says_so_and_keeps_the_last_figures_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    monkeypatch.setattr(figures, "monotonic", lambda: now[0])
    answers: list[Any] = ["figures", OperationalError("away"), OperationalError("away")]

    def source() -> Any:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    cache = figures.Cache(source)
    assert cache.get().is_database_up
    now[0] += 2
    away = cache.get()
    assert (away.figures, away.is_database_up, away.errors) == ("figures", False, 1)
    now[0] += figures.STALE_SECONDS
    assert cache.get().figures is None


def test_a_slow_database_is_up_and_counted_as_an_error() -> None:
    def source() -> Any:
        raise ReportTimeoutError("slow")

    found = figures.Cache(source).get()
    assert (found.is_database_up, found.errors, found.figures) == (True, 1, None)


def test_a_reading_is_read_only_and_ends_with_its_own_limit(db: None) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        figures.read()
        cursor.execute("SHOW statement_timeout")
        limit = cursor.fetchone()[0]
        cursor.execute("SHOW transaction_read_only")
        assert cursor.fetchone()[0] == "off"
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone()[0] == limit


def _received() -> tuple[float, float]:
    """(new, duplicate) of the test's consumer as a process that has just started scrapes them."""
    registry = collector.registry(figures.Cache())
    text = generate_latest(registry).decode()
    return _value(text, "new"), _value(text, "duplicate")


def _value(text: str, verdict: str) -> float:
    start = f'comboio_messages_received_total{{consumer="test.apply",verdict="{verdict}"}} '
    return next((float(x.removeprefix(start)) for x in text.splitlines() if x.startswith(start)), 0)


def _chore(name: str) -> chores.Chore:
    return next(chore for chore in chores.CHORES if chore.name == name)


def _until(stop: threading.Event, call: Callable[[], int]) -> int:
    done = 0
    while not stop.is_set():
        done += call()
    return done
