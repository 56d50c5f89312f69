"""Counters: added as deltas by whoever counts, folded into minutes and totals by the clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from monitor.store.sql import Cursor, load

SQL = load(__file__)

TYPE_RUNS, TYPE_SECONDS = "type_runs", "type_seconds"  # label: the message type
TYPES_AN_HOUR = 200  # of a consumer; the others of that hour share one row

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
    """Move up to limit deltas into minutes and totals, or types; how many totals changed."""
    cursor.execute(SQL["fold"], {"limit": limit, "types": TYPES_AN_HOUR})
    return int(cursor.rowcount)


def compact(cursor: Cursor, hours: int, limit: int) -> int:
    """Sum up to limit minutes older than so many hours by the hour; how many rows of hours."""
    cursor.execute(SQL["compact"], {"hours": hours, "limit": limit})
    return int(cursor.rowcount)


def prune(cursor: Cursor, days: int) -> int:
    """Delete minutes and types older than so many days; how many rows of minutes went."""
    cursor.execute(SQL["prune_types"], {"days": days})
    cursor.execute(SQL["prune"], {"days": days})
    return int(cursor.rowcount)
