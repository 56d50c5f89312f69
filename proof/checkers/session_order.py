"""Order in a session: its list grew in the order of acceptance, each append saw the last one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from proof.checkers.facts import Appended, Facts, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Appends out of order, reads that were no prefix, and sessions accepted out of order."""
    lists: dict[tuple[str, str], list[Appended]] = defaultdict(list)
    for row in facts.appended:
        lists[row.consumer, row.session].append(row)
    for rows in lists.values():
        yield from _chain(rows)
        yield from _order(facts, rows)
    yield from _accepted(facts)


def _chain(rows: list[Appended]) -> Iterator[Violation]:
    """Each row stands behind the one before it: by induction every read was a prefix."""
    before: Appended | None = None
    for row in rows:
        place, behind = (1, None) if before is None else (before.place + 1, before.n)
        if (row.place, row.behind) != (place, behind):
            text = (
                f"session {row.session}: it saw {row.place - 1} rows, the last {row.behind}; "
                f"there were {place - 1}, the last {behind}"
            )
            yield _violation(row, text)
        before = row


def _order(facts: Facts, rows: list[Appended]) -> Iterator[Violation]:
    highest: Appended | None = None
    for row in rows:
        if row.message_id in facts.requeued:
            continue  # a person put it back: it may be late
        if highest is not None and row.message_id <= highest.message_id:
            text = f"session {row.session}: after message {highest.message_id}, which came later"
            yield _violation(row, text)
        else:
            highest = row


def _accepted(facts: Facts) -> Iterator[Violation]:
    """A session's messages were accepted in the order in which its sender sent them."""
    last: dict[tuple[str, str], tuple[int, int]] = {}
    for item in facts.plan.items():
        stored = facts.messages.get(item.key)
        if stored is None or not item.session:
            continue
        number, at = last.get((item.consumer, item.session), (-1, 0))
        if stored.id < at:
            yield Violation(
                kind="order_violations",
                text=f"session {item.session}: accepted before number {number} of its session",
                key=item.key,
                message_id=stored.id,
            )
        last[item.consumer, item.session] = (item.n, stored.id)


def _violation(row: Appended, text: str) -> Violation:
    return Violation(kind="order_violations", text=text, key=row.key, message_id=row.message_id)
