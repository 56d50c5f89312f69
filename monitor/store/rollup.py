"""Counters: added as deltas by whoever counts, folded into minutes and totals by the clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from monitor.store.sql import Cursor, load

SQL = load(__file__)

# consumer id, name, label, value
Delta: TypeAlias = tuple[int, str, str, float]


def add(cursor: Cursor, deltas: Sequence[Delta]) -> None:
    """Count these in the caller's transaction; none is fine."""
    if not deltas:
        return
    consumers, names, labels, values = zip(*deltas, strict=True)
    cursor.execute(
        SQL["add"],
        {
            "consumers": list(consumers),
            "names": list(names),
            "labels": [str(label) for label in labels],
            "values": [float(value) for value in values],
        },
    )


def fold(cursor: Cursor, limit: int) -> int:
    """Move up to limit deltas into minutes and totals; how many totals changed."""
    cursor.execute(SQL["fold"], {"limit": limit})
    return int(cursor.rowcount)


def prune(cursor: Cursor, days: int) -> int:
    """Delete minutes older than so many days; how many rows went."""
    cursor.execute(SQL["prune"], {"days": days})
    return int(cursor.rowcount)
