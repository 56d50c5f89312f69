"""The order in which one sender sends: batches of first deliveries, and the copies that are due."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from proof.workload.plan import Copy, Item, Plan

_SOON, _CHANGED = 8, 4  # batches later
_LATE_SHARE = 0.4  # of all batches of the sender later


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One delivery: the message, or its changed payload."""

    item: Item
    is_changed: bool = False


@dataclass(slots=True, kw_only=True)
class Batch:
    """What goes out together; twins at the same moment on another connection."""

    deliveries: list[Sent] = field(default_factory=list)
    twins: list[Sent] = field(default_factory=list)
    share: float = 0.0  # how much of the sender's work lies before it


def batches(plan: Plan, sender: int) -> Iterator[Batch]:
    """Every delivery of the sender. The messages of a session keep their order."""
    numbers = plan.numbers(sender)
    size = plan.profile.batch
    total = max(-(-len(numbers) // size), 1)
    due: list[tuple[int, int, Sent]] = []
    serial = count()
    for at in range(total):
        items = _ordered(plan, numbers[at * size : (at + 1) * size])
        batch = Batch(deliveries=[Sent(item=item) for item in items], share=at / total)
        sessions = Counter(item.session for item in items)
        for item in items:
            # A twin may overtake its batch, or fall behind: only where that changes no order.
            is_alone = not item.session or sessions[item.session] == 1
            for copy in item.copies:
                sent = Sent(item=item, is_changed=copy is Copy.CHANGED)
                if copy is Copy.CLOSE and is_alone:
                    batch.twins.append(sent)
                else:
                    heapq.heappush(due, (at + _later(copy, total), next(serial), sent))
        while due and due[0][0] <= at:
            batch.deliveries.append(heapq.heappop(due)[2])
        yield batch
    while due:
        rest = [heapq.heappop(due)[2] for _ in range(min(size, len(due)))]
        yield Batch(deliveries=rest, share=1.0)


def _later(copy: Copy, total: int) -> int:
    if copy is Copy.LATE:
        return max(int(total * _LATE_SHARE), 2 * _SOON)
    return _CHANGED if copy is Copy.CHANGED else _SOON


def _ordered(plan: Plan, numbers: range) -> list[Item]:
    items = [plan.item(n) for n in numbers]
    for at in range(len(items) - 1):
        one, other = items[at], items[at + 1]
        if plan.is_reordered(one.n) and (one.session != other.session or not one.session):
            items[at], items[at + 1] = other, one
    return items
