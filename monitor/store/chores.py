"""What the clock's chores share: one at a time, with a time limit of their own."""

from __future__ import annotations

from monitor.store.sql import Cursor, load

SQL = load(__file__)


def begin(cursor: Cursor, name: str, seconds: float) -> bool:
    """Take the chore for this transaction. False: another process does it right now."""
    cursor.execute(SQL["try_lock"], {"name": name})
    row = cursor.fetchone()
    if row is None or not row[0]:
        return False
    cursor.execute(SQL["limit_seconds"], {"milliseconds": str(int(seconds * 1000))})
    return True


def end_holds(cursor: Cursor) -> int:
    """End the holds of consumers that were held until now; how many."""
    cursor.execute(SQL["end_holds"])
    return int(cursor.rowcount)
