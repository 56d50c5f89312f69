"""Time in a test passes in the database: what waits for a time is moved nearer, nothing sleeps."""

from __future__ import annotations

from django.db import connection, transaction

from monitor.engine.steadiness import WATCH
from monitor.store.sql import load

SQL = load(__file__)


def advance(seconds: float) -> None:
    """As if so many seconds had passed since everything that is stored."""
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in SQL:
            if statement.startswith("age_"):
                cursor.execute(SQL[statement], {"seconds": seconds})
        WATCH.look(cursor)
    WATCH.advance(seconds)


def seconds_until_due() -> float | None:
    """Until the next retry, end of a lease, or question to a provider; None: nothing waits."""
    with connection.cursor() as cursor:
        cursor.execute(SQL["next_due"])
        found = cursor.fetchone()[0]
    return None if found is None else max(float(found), 0.0)
