"""Seeded messages with their duplicates, for the tests of order and of once-only."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


def with_duplicates(items: Sequence[Item], copies: int, seed: int = 7) -> list[Item]:
    """The items in order, and copies of some: right behind the first, soon after it, or late."""
    random = Random(seed)
    placed = [(float(n), item) for n, item in enumerate(items)]
    for n in random.sample(range(len(items)), copies):
        behind = random.choice((0.5, 30.5, float(len(items))))
        placed.append((n + behind, items[n]))
    return [item for _, item in sorted(placed, key=lambda each: each[0])]
