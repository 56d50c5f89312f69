"""The clock of the database: the same for all processes, but it may be put forward or back."""

from __future__ import annotations

from monitor.store.sql import Cursor, load

SQL = load(__file__)


def read(cursor: Cursor) -> float:
    """What the clock says now, in seconds since 1970."""
    cursor.execute(SQL["read"])
    row = cursor.fetchone()
    assert row is not None  # noqa: S101 - it reads no table
    return float(row[0])
