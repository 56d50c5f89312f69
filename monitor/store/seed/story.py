"""What became of the messages of a made-up history, told from the rows that stand there."""

from __future__ import annotations

from typing import Any

import psycopg

from monitor.store.sql import load

SQL = load(__file__)


def tell(cursor: psycopg.Cursor[Any], name: str, values: dict[str, Any]) -> int:
    """Run one statement of the story; how many rows it made. Wants a transaction."""
    cursor.execute(SQL[name], values)
    return cursor.rowcount
