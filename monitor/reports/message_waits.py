"""What kept a message waiting, and who looked at it: acts on its session and consumer, a lease."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from monitor.reports import effect_rows
from monitor.reports.effect_values import Doubt
from monitor.reports.message_values import Gate, MessageRow, Moment
from monitor.reports.reading import Cursor
from monitor.reports.redacting import Redactor
from monitor.store import sql

SQL = sql.load(__file__)


def acts(
    cursor: Cursor, row: MessageRow, until: datetime | None, redactor: Redactor
) -> Iterator[Moment]:
    """Acts on its session and its consumer until that time (None: now), and each reveal of it.

    kind: session or consumer with the verb, or reveal.
    """
    cursor.execute(
        SQL["acts"],
        {
            "message": row.id,
            "session": row.session_id or -row.id,
            "consumer": row.consumer_id,
            "since": row.received_at,
            "until": until,
        },
    )
    for at, kind, verb, actor, reason, text in cursor.fetchall():
        detail: dict[str, Any] = json.loads(text)
        if detail.get("message") == row.id:
            continue  # its own timeline tells of it
        yield Moment(
            at=at,
            kind=verb if kind == "message" else f"{kind} {verb}",
            actor=actor,
            attempt=None,
            text=redactor.text(reason),
            detail=detail,
        )


def standing(
    cursor: Cursor, row: MessageRow, gate: Gate | None, doubt: Doubt | None
) -> Iterator[Moment]:
    """The lease under which it runs now, and what it waits behind."""
    held = effect_rows.lease(cursor, row.session_id or -row.id)
    if held is not None and held.message_id == row.id:
        yield _moment(held.taken_at, "lease", lease=held)
    if not row.parked:
        return
    if gate is not None and gate.dead_message not in (None, row.id):
        at = max(gate.since, row.received_at)
        yield _moment(at, "parked", message_id=gate.dead_message, state="dead")
    if doubt is not None and doubt.message_id != row.id:
        at = max(doubt.at, row.received_at)
        yield _moment(at, "parked", message_id=doubt.message_id, state="in doubt")


def _moment(at: datetime, kind: str, **detail: Any) -> Moment:
    return Moment(at=at, kind=kind, actor="", attempt=None, text="", detail=detail)
