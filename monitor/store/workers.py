"""Process lives: who works, and which messages they announced."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

from monitor.store.sql import Cursor, load

SQL = load(__file__)


def register(cursor: Cursor, process: str) -> int:
    """Open a row for this process life; its slot."""
    cursor.execute(
        SQL["register"], {"process": process, "host": socket.gethostname(), "pid": os.getpid()}
    )
    row = cursor.fetchone()
    assert row is not None  # noqa: S101 - INSERT RETURNING gives one row
    return int(row[0])


def announce(cursor: Cursor, slot: int, ids: Sequence[int]) -> bool:
    """Say which messages run next. False: the row was pruned, register again."""
    cursor.execute(SQL["announce"], {"slot": slot, "ids": list(ids)})
    return bool(cursor.rowcount == 1)


def beat(cursor: Cursor, slot: int) -> bool:
    """Say that this process lives. False: the row was pruned, register again."""
    cursor.execute(SQL["beat"], {"slot": slot})
    return bool(cursor.rowcount == 1)


def leave(cursor: Cursor, slot: int) -> None:
    """Close the row of this process life."""
    cursor.execute(SQL["leave"], {"slot": slot})


def prune(cursor: Cursor) -> int:
    """Delete rows of ended processes that name no suspect any more; how many."""
    cursor.execute(SQL["prune"])
    return int(cursor.rowcount)
