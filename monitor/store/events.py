"""The timeline of messages: human acts and exceptional moves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from monitor.store.audit import Act
from monitor.store.sql import Cursor, load

SQL = load(__file__)


def write_many(
    cursor: Cursor, kind: str, details: Mapping[int, Mapping[str, Any]], *, actor: str = ""
) -> int:
    """One line of this kind for each message id, each with its own detail. Returns how many."""
    if not details:
        return 0
    cursor.execute(
        SQL["write_many"],
        {
            "kind": kind,
            "actor": actor,
            "ids": list(details),
            "details": [json.dumps(dict(detail)) for detail in details.values()],
        },
    )
    return int(cursor.rowcount)


def last_act(cursor: Cursor, message_id: int) -> Act | None:
    """What a person last did to this message, or None."""
    cursor.execute(SQL["last_act"], {"id": message_id})
    row = cursor.fetchone()
    return None if row is None else Act(actor=row[0], verb=row[1], at=row[2])


def state(cursor: Cursor, message_id: int) -> str | None:
    """Where the message is now; None when there is no such message."""
    cursor.execute(SQL["state"], {"id": message_id})
    row = cursor.fetchone()
    return None if row is None else row[0]
