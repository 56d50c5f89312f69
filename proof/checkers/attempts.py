"""Attempts: those of the handler are counted, each once; kills and a database away are not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from proof.checkers.facts import KILLS, Facts, Stored, Violation
from proof.workload.plan import EXTERNAL, POISON_ATTEMPTS, Item

_DEATHS = 3  # of its worker, before the product gives a message up


def check(facts: Facts) -> Iterator[Violation]:
    """Messages that were charged with more or fewer attempts than their handler failed."""
    for item in facts.plan.items():
        stored = facts.messages.get(item.key)
        if stored is None or stored.state not in ("done", "dead") or item.kind in EXTERNAL:
            continue
        expected = _expected(item)
        if stored.attempts != expected:
            yield _violation(item, stored, f"{stored.attempts} attempts, not {expected}")
        if stored.state == "dead" and stored.reason != "poison":
            yield _violation(item, stored, f"dead as {stored.reason}")
    yield from _blamed(facts)


def _blamed(facts: Facts) -> Iterator[Violation]:
    """Messages that were given up for deaths of workers, of which the history knows too few."""
    last: dict[int, int] = {}
    victims: dict[int, set[int]] = defaultdict(set)
    for line in facts.lines:
        last[line["pid"]] = line["mono_ns"]
        if line["event"] == "nemesis" and line["fault"] in KILLS:
            for message_id in line["held"]:
                victims[message_id].add(line["victim"])
    for each in facts.all_messages():
        if each.id not in facts.requeued or each.type in EXTERNAL:
            continue
        # Who died in a handler wrote nothing after its start.
        starts = [line for line in facts.by_message[each.id] if line["event"] == "start"]
        dead = {line["pid"] for line in starts if last[line["pid"]] == line["mono_ns"]}
        deaths = len(dead | victims[each.id])
        if deaths < _DEATHS:
            text = f"given up for the deaths of its workers, of which there were {deaths}"
            yield Violation(kind="other", text=text, key=each.key, message_id=each.id)


def _expected(item: Item) -> int:
    if item.kind == "poison":
        return POISON_ATTEMPTS
    return int(item.body.get("fails", 0)) + 1


def _violation(item: Item, stored: Stored, text: str) -> Violation:
    return Violation(kind="other", text=f"{item.kind}: {text}", key=item.key, message_id=stored.id)
