"""Calls to the outside: one act for each key, one key for each message, none made in silence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from examples.provider import ledger
from proof.checkers.facts import Facts, Recorded, Violation

Lines = list[dict[str, Any]]
_ENDS = {"answered", "denied"}  # what tells for certain what became of a call


def check(facts: Facts) -> Iterator[Violation]:
    """Doubles at the provider, calls not recorded or made again, and doubts without cause."""
    acts = ledger.times_by_key(ledger.read(facts.folder / "provider.ledger"))
    histories: dict[str, Lines] = defaultdict(list)
    for line in facts.lines:
        if "effect" in line:
            histories[line["effect"]].append(line)
    recorded = {each.key: each for each in facts.recorded}
    for key, times in acts.items():
        if times > 1:
            text = f"the provider acted {times} times"
            yield Violation(kind="external_doubles", text=text, key=key)
        if key not in recorded:
            yield Violation(kind="external_doubles", text="it was never recorded", key=key)
    for each in facts.recorded:
        history = facts.by_message[each.message_id]
        yield from _of_effect(each, acts, histories[each.key], history)
    yield from _one_key(facts, histories)


def _of_effect(
    each: Recorded, acts: Counter[str], lines: Lines, history: Lines
) -> Iterator[Violation]:
    if each.state == "completed" and not acts[each.key]:
        yield _violation("lost", each, "completed, and the provider knows nothing of it")
    if each.state in ("in progress", "in doubt"):
        yield _violation("in_doubt_unresolved", each, f"left {each.state}")
    if each.state == "failed" or each.conflict:
        yield _violation("other", each, f"{each.state} {each.conflict}")
    if each.kind != "keyed":
        yield from _repeats(each, lines)
    if each.kind == "neither":
        yield from _doubts(each, lines, history)


def _repeats(each: Recorded, lines: Lines) -> Iterator[Violation]:
    """A call whose outcome was unknown was made again only after somebody had told."""
    is_open = False
    for line in lines:
        if line["event"] == "call":
            if is_open:
                yield _violation("external_doubles", each, "called again without asking")
            is_open = True
        elif line["event"] in _ENDS or _tells(line):
            is_open = False


def _tells(line: dict[str, Any]) -> bool:
    event = line["event"]
    return bool(event == "act" or (event == "asked" and line["told"] != "cannot tell"))


def _doubts(each: Recorded, lines: Lines, history: Lines) -> Iterator[Violation]:
    """In doubt is what got no answer, and nothing else."""
    counts = Counter(line["event"] for line in lines)
    calls, doubts = counts["call"], counts["act"]
    ends = counts["answered"] + counts["denied"]
    # A worker may die between the record of a call and its own note that it begins, and between
    # the answer and the record of it.
    unseen = max(each.calls - calls, 0)
    unheard = sum(_is_unheard(line, history) for line in lines if line["event"] in _ENDS)
    # An answer that came after the lease was lost settles a doubt before any person does.
    late = int(each.decided_by == "call")
    if not calls - ends - late <= doubts <= calls - ends + unseen + unheard:
        text = f"{calls} calls, {ends} outcomes, {unseen} unseen, {unheard} unheard"
        yield _violation("other", each, f"{text}, {doubts} decided by a person")


def _is_unheard(end: dict[str, Any], history: Lines) -> bool:
    """Whether who was told may have failed to record it: killed, cut off, or its lease lost."""
    later = [line for line in history if line["mono_ns"] > end["mono_ns"]]
    if end["event"] == "answered":
        return not any(x["event"] == "finished" and x["pid"] == end["pid"] for x in later)
    before = [x["attempt"] for x in history if x["event"] == "start" and x not in later]
    after = [x["attempt"] for x in later if x["event"] == "start"]
    # A denial that was recorded is a failed attempt of the handler.
    return not (before and after and after[0] > before[-1])


def _one_key(facts: Facts, histories: dict[str, Lines]) -> Iterator[Violation]:
    said: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for key, lines in histories.items():
        for line in lines:
            if line["event"] == "call":
                said[line["id"]].add((key, line["request"]))
    for message_id, ways in said.items():
        if len(ways) > 1:
            yield Violation(
                kind="external_doubles",
                text=f"called with {len(ways)} keys or requests",
                message_id=message_id,
            )


def _violation(kind: str, each: Recorded, text: str) -> Violation:
    return Violation(
        kind=kind, text=f"{each.kind}: {text}", key=each.key, message_id=each.message_id
    )
