"""One effect: what is done left its rows once, what is not done left none, and the sums agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from proof.checkers.facts import Booked, Facts, Stored, Violation
from proof.workload.plan import EXTERNAL, Item


def check(facts: Facts) -> Iterator[Violation]:
    """Rows that are missing, there twice or wrong, and accounts whose balance is not as planned."""
    ledger: dict[str, list[Booked]] = defaultdict(list)
    for row in facts.booked:
        ledger[row.key].append(row)
    others = Counter(row.key for row in facts.appended)
    others.update(row.key for row in facts.charged)
    balances: Counter[int] = Counter()
    for item in facts.plan.items():
        stored = facts.messages.get(item.key)
        is_done = stored is not None and stored.state == "done"
        if item.kind != "transfer":
            yield from _times(item, stored, others.pop(item.key, 0), is_done=is_done)
            continue
        yield from _transfer(item, stored, ledger.pop(item.key, []), is_done=is_done)
        if is_done:
            balances[item.body["from"]] -= item.body["cents"]
            balances[item.body["to"]] += item.body["cents"]
    for key in (*ledger, *others):
        yield Violation(kind="doubles", text="an effect of no message of this kind", key=key)
    yield from _balances(facts.booked, balances)


def _transfer(
    item: Item, stored: Stored | None, rows: list[Booked], *, is_done: bool
) -> Iterator[Violation]:
    yield from _times(item, stored, -(-len(rows) // 2), is_done=is_done)
    cents = item.body["cents"]
    wanted = {(item.body["from"], -cents), (item.body["to"], cents)}
    if rows and {(row.account, row.cents) for row in rows} != wanted:
        yield Violation(kind="other", text="it booked something else", key=item.key)
    if stored is not None and {row.message_id for row in rows} - {stored.id}:
        yield Violation(kind="doubles", text="booked by another message", key=item.key)


def _times(item: Item, stored: Stored | None, times: int, *, is_done: bool) -> Iterator[Violation]:
    if times == int(is_done):
        return
    kind = "lost" if times < int(is_done) else "doubles"
    state = "not there" if stored is None else stored.state
    what = "external" if item.kind in EXTERNAL else item.kind
    yield Violation(
        kind=kind,
        text=f"{what}: {times} effects of a message that is {state}",
        key=item.key,
        message_id=0 if stored is None else stored.id,
    )


def _balances(booked: Iterable[Booked], expected: Counter[int]) -> Iterator[Violation]:
    found: Counter[int] = Counter()
    for row in booked:
        found[row.account] += row.cents
    for account in sorted({*found, *expected}):
        if found[account] != expected[account]:
            text = f"account {account} has {found[account]}, not {expected[account]}"
            yield Violation(kind="other", text=text)
    if total := sum(found.values()):
        yield Violation(kind="other", text=f"the ledger sums to {total}, not to nothing")
