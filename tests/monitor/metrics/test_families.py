"""Case C52 and the rest of a scrape: the database's truth, labels from closed lists only."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from monitor.domain.durations import BUCKETS
from monitor.domain.states import DeadReason
from monitor.metrics import collector, figures
from monitor.reports import overview
from tests import factories, factory_effects, factory_figures, needs

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def test_every_known_label_starts_at_zero(db: None) -> None:
    factories.consumer(name="payments")
    samples = scrape()
    for outcome in ("done", "failed", "dead", "skipped"):
        name = "comboio_messages_processed_total"
        assert value(samples, name, consumer="payments", outcome=outcome) == 0
    for reason in DeadReason:
        name = "comboio_dead_letters_total"
        assert value(samples, name, consumer="payments", reason=reason) == 0
    assert value(samples, "comboio_operator_actions_total", verb="requeue") == 0
    assert value(samples, "comboio_alerts_open", kind="held session") == 0


def test_counters_are_folded_totals_plus_deltas(db: None) -> None:
    consumer = factories.consumer(name="payments")
    factory_figures.counters(consumer, name="received", label="new", value=40, folded=True)
    factory_figures.counters(consumer, name="received", label="new", value=2)
    factory_figures.counters(consumer, name="received", label="mismatch", value=3)
    samples = scrape()
    name = "comboio_messages_received_total"
    assert value(samples, name, consumer="payments", verdict="new") == 42
    assert value(samples, "comboio_mismatches_total", consumer="payments") == 3


def test_the_histogram_is_cumulated_and_its_count_is_its_last_bucket(db: None) -> None:
    consumer = factories.consumer(name="payments")
    for bound, times in (("0.005", 3), ("0.5", 2), ("+Inf", 1)):
        factory_figures.counters(consumer, name="handler_seconds_bucket", label=bound, value=times)
    factory_figures.counters(consumer, name="handler_seconds_sum", value=70.5)
    samples = scrape()
    name = "comboio_handler_duration_seconds"
    counts = [
        value(samples, f"{name}_bucket", consumer="payments", le=_bound(bound)) for bound in BUCKETS
    ]
    assert counts == [3, 3, 3, 3, 3, 3, 5, 5, 5, 5, 5, 5, 5, 6]
    assert value(samples, f"{name}_count", consumer="payments") == 6
    assert value(samples, f"{name}_sum", consumer="payments") == 70.5


def test_a_number_on_the_screen_is_the_number_in_prometheus(db: None) -> None:
    consumer = factories.consumer(name="payments", when_dead="hold")
    factories.message(consumer, state="dead", holds=True)
    factories.message(consumer)
    factories.mismatch(factories.message(consumer, session="s2"))
    factory_figures.snapshot()
    factory_figures.worker()
    samples, screen = scrape(), overview.read()
    row = next(each for each in screen.consumers if each.name == "payments")
    for name, shown in (
        ("backlog_messages", row.backlog),
        ("parked_messages", row.parked),
        ("sessions_held", row.held_sessions),
        ("dead_messages", row.dead),
        ("mismatches_open", row.mismatches_open),
    ):
        assert value(samples, f"comboio_{name}", consumer="payments") == shown > 0
    assert value(samples, "comboio_workers") == screen.totals.workers == 1
    alerts = sum(v for (name, _), v in samples.items() if name == "comboio_alerts_open")
    assert alerts == screen.totals.alerts_open == 3
    oldest = value(samples, "comboio_oldest_message_timestamp_seconds", consumer="payments")
    assert row.oldest_at is not None
    assert oldest == pytest.approx(row.oldest_at.timestamp())


def test_effects_leases_and_stale_commits_are_counted(db: None) -> None:
    owner = factories.consumer(name="charge")
    factory_effects.in_doubt(owner)
    for name, label in (("effects", "in doubt"), ("reconciled", "done"), ("leases", "lost")):
        factory_figures.counters(owner, name=name, label=label, value=2)
    factory_figures.counters(owner, name="stale_commits", value=3)
    factory_figures.counters(0, name="operator_actions", label="mark not done")
    samples = scrape()
    assert value(samples, "comboio_effects_total", consumer="charge", outcome="in doubt") == 2
    assert value(samples, "comboio_effects_total", consumer="charge", outcome="called") == 0
    assert value(samples, "comboio_reconciled_total", consumer="charge", told="done") == 2
    assert value(samples, "comboio_leases_total", consumer="charge", event="lost") == 2
    assert value(samples, "comboio_stale_commits_total", consumer="charge") == 3
    assert value(samples, "comboio_in_doubt_messages", consumer="charge") == 1
    assert value(samples, "comboio_operator_actions_total", verb="mark not done") == 1
    assert value(samples, "comboio_alerts_open", kind="effect in doubt") == 1


def test_odd_names_and_floods_of_labels_keep_the_scrape_readable_and_small(db: None) -> None:
    odd = 'a"b\\c\nd'
    consumer = factories.consumer(name=odd)
    for number in range(50):
        factories.message(consumer, session=f"session-{number}", type=f"type-{number}")
        factory_figures.counters(0, name="refused", label=f"made-up-{number}:no_key")
        factory_figures.counters(0, name="operator_actions", label=f"verb-{number}")
        factory_figures.counters(consumer, name="dead", label=f"text of a user {number}")
    samples = scrape()
    assert len(samples) <= 500
    name = "comboio_dead_letters_total"
    assert value(samples, name, consumer=odd, reason="other") == 50
    assert value(samples, "comboio_refused_total", source="other", reason="no_key") == 50
    assert value(samples, "comboio_operator_actions_total", verb="other") == 50
    texts = {text for (_, labels) in samples for _, text in labels}
    assert not any("session-" in text or "type-" in text or "user" in text for text in texts)


def test_a_refused_label_may_hold_colons_in_its_source(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "_sources", lambda: ["shop:eu"])
    factory_figures.counters(0, name="refused", label="shop:eu:bad_signature", value=4)
    name = "comboio_refused_total"
    assert value(scrape(), name, source="shop:eu", reason="bad_signature") == 4


def test_a_removed_consumer_loses_its_gauges_and_keeps_its_counters(db: None) -> None:
    gone = factories.consumer(name="gone", active=False)
    factories.message(gone, state="dead")
    factory_figures.counters(gone, name="received", label="new", value=9)
    samples = scrape()
    assert value(samples, "comboio_messages_received_total", consumer="gone", verdict="new") == 9
    assert ("comboio_dead_messages", frozenset({("consumer", "gone")})) not in samples


def test_the_gauges_of_dead_process_lives_are_gone(db: None) -> None:
    factory_figures.worker(seconds_ago=60)
    assert value(scrape(), "comboio_workers") == 0


def test_promtool_finds_nothing_to_complain_about(db: None) -> None:
    promtool = needs.program("promtool")
    consumer = factories.consumer(name='a"b\\c\nd')
    factories.message(consumer)
    factory_figures.snapshot()
    factory_figures.counters(0, name="refused", label="shop:no_key")
    answer = subprocess.run(
        [promtool, "check", "metrics"], input=exposition(), capture_output=True, check=False
    )
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, b"", b"")


def exposition() -> bytes:
    return generate_latest(collector.registry(figures.Cache()))


def scrape() -> Samples:
    return {(sample.name, frozenset(sample.labels.items())): sample.value for sample in _samples()}


def value(samples: Samples, metric: str, **labels: str) -> float:
    return samples[metric, frozenset((name, str(text)) for name, text in labels.items())]


def _samples() -> Iterator[Any]:
    for family in text_string_to_metric_families(exposition().decode()):
        yield from family.samples


def _bound(text: str) -> str:
    return text if text == "+Inf" else str(float(text))
