"""The locks under which an operator's verb changes what may run."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.store.sql import Cursor, load

SQL = load(__file__)


def wait_at_most(cursor: Cursor, seconds: float) -> None:
    """Let no lock of this transaction take longer; afterwards PostgreSQL raises 55P03."""
    cursor.execute(SQL["wait_at_most"], {"milliseconds": str(round(seconds * 1000))})


def lock(cursor: Cursor, lanes: Iterable[int]) -> set[int]:
    """Lock these lanes until the transaction ends, waiting for running batches; those found."""
    cursor.execute(SQL["lock"], {"lanes": sorted(set(lanes))})
    return {row[0] for row in cursor.fetchall()}


def lock_free(cursor: Cursor, lanes: Iterable[int]) -> set[int]:
    """Lock those of the lanes that nobody holds now. Which they are."""
    cursor.execute(SQL["lock_free"], {"lanes": sorted(set(lanes))})
    return {row[0] for row in cursor.fetchall()}


def wake(cursor: Cursor) -> None:
    """Tell the workers, once the transaction commits, that something may run."""
    cursor.execute(SQL["wake"])
