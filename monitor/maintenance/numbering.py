"""What the clock does for sessions that run by sequence number: it tells of gaps."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.domain.order import Numbered
from monitor.domain.states import AlertKind
from monitor.engine import directory, registry
from monitor.store import alerts, connections, sequences
from monitor.store.alerts import Alert
from monitor.store.sequences import Gap
from monitor.store.sql import Cursor


def tell_gaps(cursor: Cursor) -> int:
    """Open an alert for each session that has waited too long for a number; how many."""
    told = 0
    for consumer, numbered in _numbered():
        found = sequences.overdue(cursor, consumer, numbered.gap_seconds)
        alerts.raise_many(cursor, [_alert(consumer, gap) for gap in found])
        told += len(found)
    return told


def adopt(cursor: Cursor) -> int:
    """Give places to messages that an older process stored without; how many.

    During a deploy, a process that does not know yet that its consumer runs by number stores some.
    """
    return sum(sequences.adopt(cursor, consumer) for consumer, _ in _numbered())


def _numbered() -> Iterator[tuple[int, Numbered]]:
    ids = directory.ids(connections.shared_cursor())
    for each in registry.all_consumers():
        if each.numbered is not None:
            yield ids[each.name], each.numbered


def _alert(consumer: int, gap: Gap) -> Alert:
    missing = f"number {gap.missing}"
    if gap.before > gap.missing + 1:
        missing = f"numbers {gap.missing} to {gap.before - 1}"
    return Alert(
        kind=AlertKind.GAP,
        consumer=consumer,
        subject=str(gap.session),
        title=f"Session “{gap.key}” waits for {missing}; {gap.before} is there"[:300],
        target=gap.session,
        cause="number missing",
    )
