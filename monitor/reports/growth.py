"""How problems grow: what died, and what came into a session, in the last minutes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monitor.reports.reading import Cursor
from monitor.store import sql

SQL = sql.load(__file__)

MINUTES = 10  # that a trend looks back


def deaths(cursor: Cursor) -> dict[str, int]:
    """How many messages died of each cause in that time; a cause without any has no entry."""
    cursor.execute(SQL["deaths"], {"seconds": MINUTES * 60})
    return dict(cursor.fetchall())


def arrivals(cursor: Cursor, sessions: Sequence[int]) -> dict[int, int]:
    """How many messages came into each of these sessions in that time; counted up to 501."""
    if not sessions:
        return {}
    values: dict[str, Any] = {"sessions": list(sessions), "seconds": MINUTES * 60}
    cursor.execute(SQL["arrivals"], values)
    return dict(cursor.fetchall())
