"""Dead letters: messages set aside with their reason until a person decides."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from monitor.store.sql import Cursor, load

SQL = load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Burial:
    """A ready message on its way to the dead letters, and why."""

    id: int
    consumer: int
    lane: int
    session: int
    reason: str
    error_class: str
    error: str
    cause: str
    attempts: int


def bury(cursor: Cursor, burial: Burial) -> bool:
    """Move a ready message to the dead letters. False: it was not ready; roll back.

    Wants the lock of the message's lane.
    """
    cursor.execute(
        SQL["bury"],
        {
            "id": burial.id,
            "consumer": burial.consumer,
            "lane": burial.lane,
            "session": burial.session,
            "reason": burial.reason,
            "error_class": burial.error_class,
            "error": burial.error,
            "cause": burial.cause,
            "attempts": burial.attempts,
        },
    )
    return bool(cursor.rowcount == 1)


def note_failure(
    cursor: Cursor, message_id: int, *, kind: str, attempt: int, detail: dict[str, Any]
) -> None:
    """Write one failed attempt into the timeline of its message."""
    cursor.execute(
        SQL["note_failure"],
        {"id": message_id, "kind": kind, "attempt": attempt, "detail": json.dumps(detail)},
    )
