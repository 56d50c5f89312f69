"""Consumers whose downstream is away: failures in a row, and when the next try is due."""

from __future__ import annotations

from monitor.store.sql import Cursor, load

SQL = load(__file__)


def count(cursor: Cursor, consumer: int, failures: int, *, limit: int, error: str) -> bool:
    """Count failures in a row. True: the limit is reached now, so the consumer is throttled."""
    cursor.execute(
        SQL["count"],
        {"consumer": consumer, "failures": failures, "limit": limit, "error": error},
    )
    row = cursor.fetchone()
    return row is not None and bool(row[0])


def begin_probe(cursor: Cursor, consumer: int) -> bool:
    """Whether the caller may try the downstream now; nobody else may until the next try is due."""
    cursor.execute(SQL["begin_probe"], {"consumer": consumer})
    return cursor.rowcount == 1


def close(cursor: Cursor, consumer: int) -> None:
    """The downstream is back."""
    cursor.execute(SQL["close"], {"consumer": consumer})
