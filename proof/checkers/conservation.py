"""Nothing disappears: what was accepted is there, in one state, and ended where it had to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from proof.checkers.facts import Facts, Stored, Violation
from proof.workload.plan import Item


def check(facts: Facts) -> Iterator[Violation]:
    """What was lost, is there twice, or stands in no state or in two."""
    yield from _accepted(facts)
    keys = Counter(each.key for each in facts.all_messages())
    planned = {facts.plan.key(n) for n in range(len(facts.plan))}
    for key, times in keys.items():
        if key not in planned:
            yield Violation(kind="other", text="it is there, but nobody sent it", key=key)
        if times > 1:
            yield Violation(kind="doubles", text=f"it was stored {times} times", key=key)
    for item in facts.plan.items():
        stored = facts.messages.get(item.key)
        if stored is not None:
            yield from _state(item, stored)
    yield from _left_over(facts)


def _left_over(facts: Facts) -> Iterator[Violation]:
    names = ("leases", "counters", "rows of the queue", "markers")
    for what, number in zip(names, next(facts.rows("left_over")), strict=True):
        if number:
            yield Violation(kind="other", text=f"{number} {what} that belong to nothing are left")


def _accepted(facts: Facts) -> Iterator[Violation]:
    answers = facts.answers
    for n in range(len(facts.plan)):
        key = facts.plan.key(n)
        if n not in answers.new:
            yield Violation(kind="other", text="its sender was never told that it is safe", key=key)
            continue
        stored = facts.messages.get(key)
        if stored is None:
            yield Violation(kind="lost", text="accepted, and not there", key=key)
        elif answers.new[n] not in (0, stored.id):
            text = f"its sender was told {answers.new[n]}, and it is {stored.id}"
            yield Violation(kind="lost", text=text, key=key, message_id=stored.id)


def _state(item: Item, stored: Stored) -> Iterator[Violation]:
    if stored.places != 1:
        yield Violation(
            kind="lost" if not stored.places else "other",
            text=f"it stands in {stored.places} states",
            key=item.key,
            message_id=stored.id,
        )
    expected = "dead" if item.kind == "poison" else "done"
    if stored.state not in (expected, None):
        yield Violation(
            kind="lost" if expected == "done" else "other",
            text=f"it ended {stored.state} {stored.reason}, not {expected}",
            key=item.key,
            message_id=stored.id,
        )
