"""The record of who did which verb to what."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.store.sql import Cursor, load

SQL = load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """The newest act on an object."""

    actor: str
    verb: str
    at: datetime


def write(  # noqa: PLR0913 - one line of the record, its columns by name
    cursor: Cursor,
    actor: str,
    verb: str,
    object_kind: str,
    object_id: int,
    *,
    reason: str = "",
    detail: Mapping[str, Any] | None = None,
) -> int:
    """Write one line in the caller's transaction, which also holds the act itself. Returns 1."""
    cursor.execute(
        SQL["write"],
        {
            "actor": actor,
            "verb": verb,
            "object_kind": object_kind,
            "object_id": object_id,
            "reason": reason,
            "detail": json.dumps(detail or {}),
        },
    )
    return int(cursor.rowcount)


def write_many(
    cursor: Cursor,
    actor: str,
    verb: str,
    object_kind: str,
    ids: Sequence[int],
    *,
    reason: str = "",
) -> int:
    """One line for each object of a bulk verb. Returns how many."""
    cursor.execute(
        SQL["write_many"],
        {
            "actor": actor,
            "verb": verb,
            "object_kind": object_kind,
            "ids": list(ids),
            "reason": reason,
        },
    )
    return int(cursor.rowcount)


def last(cursor: Cursor, object_kind: str, object_id: int) -> Act | None:
    """The newest act on this object, or None when nobody touched it."""
    cursor.execute(SQL["last"], {"object_kind": object_kind, "object_id": object_id})
    row = cursor.fetchone()
    return None if row is None else Act(actor=row[0], verb=row[1], at=row[2])
