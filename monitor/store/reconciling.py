"""Effects in doubt: what is asked about them, when, and who calls for help."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.store.sql import Cursor, load

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class Asked:
    """An effect with what a probe is given. decided_by "" and settled_at None: still open."""

    id: int
    message_id: int
    consumer: int
    consumer_name: str
    name: str
    key: str
    request: Any
    state: str
    version: int
    decided_by: str
    settled_at: datetime | None
    traceparent: str | None
    escalated_by: str


def find(cursor: Cursor, effect_id: int) -> Asked | None:
    """The effect, not locked; None when there is none with that id."""
    cursor.execute(SQL["find"], {"id": effect_id})
    row = cursor.fetchone()
    return None if row is None else _asked(row)


def by_key(cursor: Cursor, name: str, key: str) -> int | None:
    """The id of the effect of that name under the key we gave the provider, or None."""
    cursor.execute(SQL["by_key"], {"name": name, "key": key})
    row = cursor.fetchone()
    return None if row is None else int(row[0])


def claim_due(cursor: Cursor, askable: Sequence[tuple[str, str]], limit: int) -> list[Asked]:
    """Effects in doubt to be asked about now, of these (consumer, effect) names; never twice."""
    cursor.execute(
        SQL["claim_due"],
        {
            "consumers": [consumer for consumer, _ in askable],
            "names": [name for _, name in askable],
            "limit": limit,
        },
    )
    return [_asked(row) for row in cursor.fetchall()]


def in_doubt(
    cursor: Cursor, askable: Sequence[tuple[str, str]], consumer: int | None, limit: int
) -> list[Asked]:
    """The oldest effects in doubt of these (consumer, effect) names. Locks nothing."""
    cursor.execute(
        SQL["in_doubt"],
        {
            "consumers": [name for name, _ in askable],
            "names": [name for _, name in askable],
            "consumer": consumer,
            "limit": limit,
        },
    )
    return [_asked(row) for row in cursor.fetchall()]


def escalate(cursor: Cursor, effect_id: int, *, actor: str, seen: int) -> int:
    """Note who called for help. Returns 1, or 0 when the effect is no longer in doubt as seen."""
    cursor.execute(SQL["escalate"], {"id": effect_id, "actor": actor, "seen": seen})
    return int(cursor.rowcount)


def reopen_alert(cursor: Cursor, consumer: int, effect_id: int) -> int:
    """Open the acknowledged alert of an effect again. Returns 1, or 0 when it was not."""
    cursor.execute(SQL["reopen_alert"], {"consumer": consumer, "subject": str(effect_id)})
    return int(cursor.rowcount)


def _asked(row: Sequence[Any]) -> Asked:
    values = list(row)
    values[6] = json.loads(values[6])  # as text: drivers differ in what they make of jsonb
    return Asked(*values)
