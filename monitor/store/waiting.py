"""Messages that their sender delayed: they wait outside the queue and hold nobody."""

from __future__ import annotations

from monitor.store.sql import Cursor, load

SQL = load(__file__)


def release(cursor: Cursor, limit: int) -> int:
    """Make up to `limit` due messages ready; how many. Wants a transaction."""
    cursor.execute(SQL["release"], {"limit": limit})
    row = cursor.fetchone()
    return 0 if row is None else int(row[0])
