"""How many sessions of a consumer run at once, where its declaration limits that."""

from __future__ import annotations

from monitor.store.sql import Cursor, load

SQL = load(__file__)


def take(cursor: Cursor, consumer: int, concurrency: int | None) -> bool:
    """A permit for the rest of the transaction. False: as many as allowed work already."""
    if concurrency is None:
        return True
    cursor.execute(SQL["take"], {"consumer": consumer, "concurrency": concurrency})
    return cursor.fetchone() is not None


def has_free_lease(cursor: Cursor, consumer: int, concurrency: int | None) -> bool:
    """Whether one more session may be leased; nobody else counts until the transaction ends."""
    if concurrency is None:
        return True
    cursor.execute(SQL["lock"], {"consumer": consumer})
    cursor.execute(SQL["leases"], {"consumer": consumer})
    row = cursor.fetchone()
    return row is None or int(row[0]) < concurrency
