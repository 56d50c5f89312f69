"""The end of a made-up history: alerts, acts of people, and counters that agree with the rows."""

from __future__ import annotations

from typing import Any

import psycopg

from monitor.store.sql import load

SQL = load(__file__)


def tell(cursor: psycopg.Cursor[Any], name: str, values: dict[str, Any]) -> int:
    """Run one statement of the end; how many rows it made. Wants a transaction."""
    cursor.execute(SQL[name], values)
    return cursor.rowcount


def last_ids(cursor: psycopg.Cursor[Any]) -> dict[str, int]:
    """Where alerts, requeues of many and acts stand now."""
    cursor.execute(SQL["last_ids"])
    row = cursor.fetchone() or (0, 0, 0)
    return dict(zip(("last_alert", "last_bulk", "last_act"), row, strict=True))
