"""Figures as metric families: every name, label and meaning of what Prometheus scrapes.

Labels come from closed lists only; a value outside of its list is counted under "other".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from monitor.domain.consumer import NO_CONSUMER
from monitor.domain.durations import BUCKETS
from monitor.domain.effect import Told
from monitor.domain.states import AlertKind, Cause, DeadReason
from monitor.metrics.figures import Figures
from monitor.reports.consumers import ConsumerRow, ConsumerState
from monitor.sources.refusal import Reason

Sums = dict[tuple[str, ...], float]

OTHER = "other"
_VERDICTS = ("new", "duplicate", "mismatch")
_OUTCOMES = ("done", "failed", "dead", "skipped")
_VERBS = (
    "requeue",
    "discard",
    "restore",
    "hold",
    "resume",
    "keep first",
    "accept second",
    "acknowledge",
    "reconcile",
    "mark done",
    "mark not done",
    "escalate",
    "steal",
    "skip gap",
    "skip head",
    "replay",
    "requeue many",
    "go on",
    "stop",
    "export",
    "take",
    "give",
    "note",
    "snooze",
    "wake",
)
_PURGED = ("message", "discarded", "key", "session", "alert", "triage", "click", "audit")
_EFFECTS = ("called", "completed", "failed", "in doubt", "not done")
_LEASES = ("taken", "renewed", "lost", "taken over")
# counter of the database: (metric, meaning, label, its values)
_PER_CONSUMER = {
    "received": ("messages_received", "Deliveries judged by ingest.", "verdict", _VERDICTS),
    "processed": ("messages_processed", "Ended runs of handlers.", "outcome", _OUTCOMES),
    "duplicates": ("duplicates", "Deliveries absorbed as duplicates.", "cause", tuple(Cause)),
    "dead": ("dead_letters", "Messages set aside, ever.", "reason", tuple(DeadReason)),
    "effects": ("effects", "Calls to the outside and their outcomes.", "outcome", _EFFECTS),
    "reconciled": ("reconciled", "What evidence told about effects.", "told", tuple(Told)),
    "leases": ("leases", "Leases of sessions in external mode.", "event", _LEASES),
}
# counter of the database: (meaning, whether what nobody takes is counted too)
_PLAIN = {
    "stale_commits": ("Commits refused because their lease was lost.", False),
    "accepted_after_window": ("New messages that were sent before anything remembered.", True),
}
# counter of the database, of no consumer: (meaning, label, its values)
_OF_THE_WHOLE = {
    "operator_actions": ("Verbs used by operators.", "verb", _VERBS),
    "purged": ("Rows that went because they were old.", "what", _PURGED),
}
_LAST_BUCKET = BUCKETS[-1]
_ONLY_OF_HANDLERS = ("processed", "effects", "reconciled", "leases")
# attribute of a consumer's row: (metric, meaning)
_GAUGES = {
    "backlog": ("backlog_messages", "Messages that are ready, waiting or parked."),
    "parked": ("parked_messages", "Messages behind a held session."),
    "waiting": ("waiting_messages", "Messages that wait for their retry."),
    "sessions": ("sessions", "Sessions with a backlog."),
    "held_sessions": ("sessions_held", "Sessions held by a dead head, a doubt or an operator."),
    "dead": ("dead_messages", "Messages that are dead now (counted up to 100,001)."),
    "mismatches_open": ("mismatches_open", "Mismatches without a verdict."),
    "in_doubt": ("in_doubt_messages", "Messages that wait for the outcome of an effect."),
    "delayed": ("delayed_messages", "Messages that their sender delayed."),
    "gaps": ("sessions_with_gap", "Sessions that wait for a missing number."),
}


def families(figures: Figures, sources: Collection[str]) -> Iterator[Metric]:
    """All metrics of these figures. sources: the configured names; no other name is a label."""
    yield from _counters(figures)
    yield _mismatches(figures)
    yield from _plain(figures)
    yield _refused(figures, sources)
    yield _ignored(figures, sources)
    yield from _of_the_whole(figures)
    yield _durations(figures)
    yield from _gauges(figures)
    yield from _others(figures)


def _counters(figures: Figures) -> Iterator[Metric]:
    for name, (metric, meaning, label, known) in _PER_CONSUMER.items():
        sums: Sums = {}
        for number in _counted(figures, with_nobody=name not in _ONLY_OF_HANDLERS):
            sums |= {(figures.names[number], value): 0.0 for value in known}
        _add(sums, _labelled(figures, name, known))
        yield _counter(f"comboio_{metric}", meaning, ("consumer", label), sums)


def _mismatches(figures: Figures) -> Metric:
    sums: Sums = {(figures.names[number],): 0.0 for number in _counted(figures, with_nobody=True)}
    for total in figures.totals:
        if (total.name, total.label) == ("received", "mismatch"):
            _add(sums, [((figures.names.get(total.consumer_id, OTHER),), total.value)])
    meaning = "Deliveries with a known key and another payload."
    return _counter("comboio_mismatches", meaning, ("consumer",), sums)


def _plain(figures: Figures) -> Iterator[Metric]:
    for name, (meaning, with_nobody) in _PLAIN.items():
        counted = _counted(figures, with_nobody=with_nobody)
        sums: Sums = {(figures.names[number],): 0.0 for number in counted}
        for total in figures.totals:
            if total.name == name:
                _add(sums, [((figures.names.get(total.consumer_id, OTHER),), total.value)])
        yield _counter(f"comboio_{name}", meaning, ("consumer",), sums)


def _refused(figures: Figures, sources: Collection[str]) -> Metric:
    sums: Sums = {}
    for total in figures.totals:
        if total.name == "refused":
            source, _, reason = total.label.rpartition(":")
            labels = (_folded(source, {*sources, "-"}), _folded(reason, set(Reason)))
            _add(sums, [(labels, total.value)])
    meaning = "Deliveries not let in; source “-” is an address without source."
    return _counter("comboio_refused", meaning, ("source", "reason"), sums)


def _ignored(figures: Figures, sources: Collection[str]) -> Metric:
    sums: Sums = {}
    for total in figures.totals:
        if total.name == "ignored":
            _add(sums, [((_folded(total.label, sources),), total.value)])
    meaning = "Deliveries that no consumer takes, of sources that ignore such."
    return _counter("comboio_ignored", meaning, ("source",), sums)


def _of_the_whole(figures: Figures) -> Iterator[Metric]:
    for name, (meaning, label, known) in _OF_THE_WHOLE.items():
        sums: Sums = {(value,): 0.0 for value in known}
        for total in figures.totals:
            if total.name == name:
                _add(sums, [((_folded(total.label, known),), total.value)])
        yield _counter(f"comboio_{name}", meaning, (label,), sums)


def _durations(figures: Figures) -> Metric:
    family = HistogramMetricFamily(
        "comboio_handler_duration_seconds", "Time that handlers took.", labels=("consumer",)
    )
    parts: dict[tuple[int, str, str], float] = defaultdict(float)
    for total in figures.totals:
        parts[total.consumer_id, total.name, total.label] += total.value
    for number in _counted(figures, with_nobody=False):
        below, buckets = 0.0, []
        for bound in BUCKETS:  # stored apart, exported cumulated
            below += parts[number, "handler_seconds_bucket", bound]
            buckets.append((bound if bound == _LAST_BUCKET else str(float(bound)), below))
        seconds = parts[number, "handler_seconds_sum", ""]
        family.add_metric((figures.names[number],), buckets, seconds)
    return family


def _gauges(figures: Figures) -> Iterator[Metric]:
    rows = figures.consumers
    for attribute, (metric, meaning) in _GAUGES.items():
        values = ((row, float(getattr(row, attribute))) for row in rows)
        yield _per_row(f"comboio_{metric}", meaning, values)
    held = ((row, float(row.state is ConsumerState.HELD)) for row in rows)
    yield _per_row("comboio_consumer_held", "1 while an operator holds the consumer.", held)
    throttled = ((row, float(row.throttle is not None)) for row in rows)
    yield _per_row("comboio_consumer_throttled", "1 while its downstream is away.", throttled)
    oldest = ((row, row.oldest_at.timestamp()) for row in rows if row.oldest_at is not None)
    meaning = "When the oldest message of the backlog was received; absent without backlog."
    yield _per_row("comboio_oldest_message_timestamp_seconds", meaning, oldest)


def _others(figures: Figures) -> Iterator[Metric]:
    family = GaugeMetricFamily("comboio_alerts_open", "Alerts nobody has seen.", labels=("kind",))
    for kind in AlertKind:
        family.add_metric((kind,), figures.alerts_open.get(kind, 0))
    yield family
    meaning = "Workers with a heartbeat within 10 s."
    yield GaugeMetricFamily("comboio_workers", meaning, figures.workers)
    if figures.dedup_records is not None:
        meaning = "Dedup records, as PostgreSQL estimates them."
        yield GaugeMetricFamily("comboio_dedup_records", meaning, figures.dedup_records)
    if figures.snapshot_at is not None:
        meaning = "When the backlogs were counted."
        at = figures.snapshot_at.timestamp()
        yield GaugeMetricFamily("comboio_snapshot_timestamp_seconds", meaning, at)


def _per_row(name: str, meaning: str, values: Iterable[tuple[ConsumerRow, float]]) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=("consumer",))
    for row, value in values:
        if row.active or row.id == NO_CONSUMER:
            family.add_metric((row.name,), value)
    return family


def _counted(figures: Figures, *, with_nobody: bool) -> list[int]:
    """The consumers whose counters start at 0: the active ones, and 0 for what nobody takes."""
    active = [row.id for row in figures.consumers if row.active]
    return [NO_CONSUMER, *active] if with_nobody else active


def _labelled(
    figures: Figures, name: str, known: Collection[str]
) -> Iterator[tuple[tuple[str, str], float]]:
    for total in figures.totals:
        if total.name == name:
            consumer = figures.names.get(total.consumer_id, OTHER)
            yield (consumer, _folded(total.label, known)), total.value


def _folded(value: str, known: Collection[str]) -> str:
    return value if value in known else OTHER


def _add(sums: Sums, found: Iterable[tuple[tuple[str, ...], float]]) -> None:
    for labels, value in found:
        sums[labels] = sums.get(labels, 0.0) + value


def _counter(
    name: str,
    meaning: str,
    labels: tuple[str, ...],
    sums: Sums,
) -> Metric:
    family = CounterMetricFamily(name, meaning, labels=labels)
    for values, value in sums.items():
        family.add_metric(values, value)
    return family
