"""How problems grow: what died, and what came into a session, in the last minutes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monitor.reports.reading import Cursor
from monitor.store import sql

SQL = sql.load(__file__)

MINUTES = 10  # that a trend looks back
CAP = 10_000  # deaths that are looked at


def deaths(cursor: Cursor) -> dict[str, int]:
    """How many messages died of each cause in that time; a cause without any has no entry.

    Where more than 10,000 died in all, of the newest 10,000.
    """
    cursor.execute(SQL["deaths"], {"seconds": MINUTES * 60, "count": CAP})
    return dict(cursor.fetchall())


def arrivals(cursor: Cursor, sessions: Sequence[int]) -> dict[int, int]:
    """How many messages came into each of these sessions in that time; counted up to 501."""
    if not sessions:
        return {}
    values: dict[str, Any] = {"sessions": list(sessions), "seconds": MINUTES * 60}
    cursor.execute(SQL["arrivals"], values)
    return dict(cursor.fetchall())
