"""Each act of an operator is in the audit trail once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from proof.checkers.facts import Facts, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Acts without a row, rows without an act, and rows that are there twice."""
    told = Counter((line["verb"], line["object"]) for line in facts.lines if line["event"] == "act")
    kept = Counter((row[2], row[4]) for row in facts.rows("audit"))
    for verb, number in sorted({*told, *kept}):
        if told[verb, number] != kept[verb, number]:
            text = f"{verb} of {number}: done {told[verb, number]} times, "
            yield Violation(kind="other", text=text + f"audited {kept[verb, number]} times")
