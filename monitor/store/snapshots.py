"""The figures the console reads instead of counting: taken in one pass, stamped with their time."""

from __future__ import annotations

from monitor.store.sql import Cursor, load

SQL = load(__file__)

SESSIONS_SHOWN = 500  # the largest of each consumer, and every held one


def take(cursor: Cursor) -> int:
    """Replace the last snapshot; how many consumers it shows. Wants a transaction."""
    cursor.execute(SQL["clear"])
    cursor.execute(SQL["take"], {"sessions": SESSIONS_SHOWN})
    return int(cursor.rowcount)
