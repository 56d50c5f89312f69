"""Messages that a person decided shall not run, and the way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monitor.store.requeues import Dead, dead
from monitor.store.sql import Cursor, load

SQL = load(__file__)


def find(cursor: Cursor, message_id: int) -> Dead | None:
    """The discarded message of that id, as it was dead; None when it is not discarded."""
    cursor.execute(SQL["find"], {"id": message_id})
    row = cursor.fetchone()
    return None if row is None else dead(row)


def discard(
    cursor: Cursor, seen: Sequence[Dead], notes: Mapping[int, str], *, actor: str
) -> list[int]:
    """Discard those that are still dead as seen, each with its note; their ids."""
    cursor.execute(
        SQL["discard"],
        {
            "ids": [each.id for each in seen],
            "versions": [each.version for each in seen],
            "notes": [notes.get(each.id, "") for each in seen],
            "actor": actor,
        },
    )
    return [row[0] for row in cursor.fetchall()]


def restore(cursor: Cursor, message_id: int, *, version: int) -> int:
    """Make a discarded message dead again. Returns 1, or 0 when it is no longer as seen."""
    cursor.execute(SQL["restore"], {"id": message_id, "version": version})
    return int(cursor.rowcount)
