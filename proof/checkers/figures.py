"""Figures are true: the folded counters are what the rows say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from proof.checkers.facts import Facts, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Counters that differ from the rows they stand for."""
    counted = {(row[0], row[1], row[2]): row[3] for row in facts.rows("totals")}
    truth: Counter[tuple[str, str, str]] = Counter()
    for each in facts.all_messages():
        truth[each.consumer, "received", "new"] += 1
        truth[each.consumer, "received", "duplicate"] += each.duplicates
        truth[each.consumer, "received", "mismatch"] += each.mismatches
        if each.state in ("done", "dead"):
            truth[each.consumer, "processed", each.state] += 1
        if each.id in facts.requeued:
            truth[each.consumer, "processed", "dead"] += 1
    watched = {(name, label) for _, name, label in truth}
    for key in sorted({*truth, *counted}):
        if key[1:] in watched and counted.get(key, 0.0) != truth[key]:
            text = f"{' '.join(key)}: counted {counted.get(key, 0.0):.0f}, there are {truth[key]}"
            yield Violation(kind="other", text=text)
