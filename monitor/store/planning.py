"""How the planner treats the statements of a transaction: the inbox's by index, others as usual."""

from __future__ import annotations

from monitor.store.sql import Cursor, load

SQL = load(__file__)


def by_index(cursor: Cursor) -> None:
    """From here to the end of the transaction no plan may read a whole table if an index serves.

    The transaction waits for the disk at its commit, also where the server's default is not to.
    """
    cursor.execute(SQL["by_index"])


def as_usual(cursor: Cursor) -> None:
    """Back to the server's setting, for the statements of handlers."""
    cursor.execute(SQL["as_usual"])
