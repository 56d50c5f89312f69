"""Duplicates and mismatches are counted: each that was taken, and none that was not sent."""

from __future__ import annotations

from collections.abc import Iterator

from proof.checkers.facts import Facts, Stored, Violation
from proof.workload.plan import QUEUE, Copy


def check(facts: Facts) -> Iterator[Violation]:
    """Messages whose counts do not fit what their senders were told."""
    recorded = {row[0] for row in facts.rows("mismatches")}
    answers = facts.answers
    for n in answers.new:
        stored = facts.messages.get(facts.plan.key(n))
        if stored is None:
            continue
        if _is_taken_for_a_copy(facts, n):
            yield _violation(stored, "another payload came under its key and was taken for a copy")
        # Where no answer came it may have arrived or not; a broker may deliver more than once.
        spare = 10**6 if facts.plan.source(n) == QUEUE else answers.unanswered[n]
        yield from _between(stored, "duplicates", stored.duplicates, answers.same[n] - 1, spare)
        yield from _between(stored, "mismatches", stored.mismatches, answers.changed[n], spare)
        if bool(stored.mismatches) != (stored.id in recorded):
            yield _violation(stored, "a mismatch without its record, or the other way round")


def _is_taken_for_a_copy(facts: Facts, n: int) -> bool:
    """Whether its other payload was sent until it was answered, and nobody called it another."""
    is_told = facts.plan.source(n) != QUEUE
    return is_told and Copy.CHANGED in facts.plan.item(n).copies and not facts.answers.changed[n]


def _between(stored: Stored, what: str, found: int, least: int, spare: int) -> Iterator[Violation]:
    if not least <= found <= least + spare:
        yield _violation(stored, f"{found} {what} counted; {least} were told, {spare} unknown")


def _violation(stored: Stored, text: str) -> Violation:
    return Violation(kind="other", text=text, key=stored.key, message_id=stored.id)
