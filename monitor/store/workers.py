"""Process lives: who works, and which messages they announced."""

from __future__ import annotations

import os
import socket
import time
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from monitor.store.sql import Cursor, load

SQL = load(__file__)
RETURN_SECONDS = 5.0  # after a restart of the database, for workers that live to come back


def register(cursor: Cursor, process: str, release: str = "") -> int:
    """Open a row for this process life; its slot. A release not seen before is noted as a deploy.

    Wants no transaction: two statements, and the second must see what others did meanwhile.
    """
    values: dict[str, Any] = {"process": process, "host": socket.gethostname(), "pid": os.getpid()}
    cursor.execute(SQL["register"], {**values, "wall": time.time(), "release": release})
    row = cursor.fetchone()
    assert row is not None  # noqa: S101 - INSERT RETURNING gives one row
    if release:
        cursor.execute(SQL["note_release"], {"release": release})
    return int(row[0])


def tell(cursor: Cursor, children: Sequence[tuple[int, int, float]]) -> int:
    """Write what the children of this worker do: (pid, message id or 0, for how many seconds).

    How many rows it reached; one that another process has locked is left for the next time.
    """
    pids, ids, seconds = zip(*children, strict=True) if children else ((), (), ())
    cursor.execute(
        SQL["tell"],
        {
            "host": socket.gethostname(),
            "pids": list(pids),
            "ids": list(ids),
            "seconds": list(seconds),
        },
    )
    return int(cursor.rowcount)


def announce(cursor: Cursor, slot: int, ids: Sequence[int]) -> bool:
    """Say which messages run next. False: the row was pruned, register again."""
    cursor.execute(SQL["announce"], {"slot": slot, "ids": list(ids)})
    return bool(cursor.rowcount == 1)


def live(cursor: Cursor, slot: int) -> None:
    """Let this connection stand for a process life: while it lasts, nobody counts it as dead."""
    cursor.execute(SQL["live"], {"slot": slot})


def announcers(
    cursor: Cursor, slot: int, ids: Sequence[int] | None = None
) -> list[tuple[int, list[int], bool | None]]:
    """(slot, what it announced, whether it ended) of lives that announced one of these messages.

    ids None: that announced any. slot is the caller's own life, which is left out. Whether it ended
    is None soon after a restart, when nobody knows.
    """
    values: dict[str, Any] = {"slot": slot, "return_seconds": RETURN_SECONDS}
    values["ids"] = None if ids is None else list(ids)
    cursor.execute(SQL["announcers"], values)
    return [(row[0], row[1], row[2]) for row in cursor.fetchall()]


def claim_ended(cursor: Cursor, slots: Collection[int]) -> dict[int, list[int]]:
    """What these ended lives announced, by slot; locked, without those another process has."""
    cursor.execute(SQL["claim_ended"], {"slots": list(slots)})
    return dict(cursor.fetchall())


def settle_ended(cursor: Cursor, slot: int, left: Sequence[int]) -> None:
    """Of what this ended life announced only these are not taken in. Wants it claimed."""
    cursor.execute(SQL["settle_ended"], {"slot": slot, "ids": list(left)})


def take_deaths(cursor: Cursor, slots: Collection[int], ids: Sequence[int]) -> dict[int, int]:
    """How many of these ended lives died while just one message ran, by message; each counts once.

    Wants the lanes of the messages.
    """
    cursor.execute(SQL["take_deaths"], {"slots": list(slots), "ids": list(ids)})
    return dict(Counter(row[0] for row in cursor.fetchall()))


def beat(cursor: Cursor, slot: int) -> bool:
    """Say that this process lives. False: the row was pruned, register again."""
    cursor.execute(SQL["beat"], {"slot": slot, "wall": time.time()})
    return bool(cursor.rowcount == 1)


def leave(cursor: Cursor, slot: int) -> None:
    """Close the row of this process life."""
    cursor.execute(SQL["leave"], {"slot": slot})


def prune(cursor: Cursor) -> int:
    """Delete rows of ended processes that name no suspect any more; how many."""
    cursor.execute(SQL["prune"])
    return int(cursor.rowcount)
