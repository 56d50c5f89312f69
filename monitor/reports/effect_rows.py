"""Reads effects by id or message: used by the Reconcile page and by everything about a message."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from monitor.reports import effect_values
from monitor.reports.effect_values import Doubt, EffectRow, EvidenceRow, Lease, Recorded
from monitor.reports.reading import Cursor
from monitor.store import sql

SQL = sql.load(__file__)

_COLUMNS = (
    "id",
    "message_id",
    "consumer_id",
    "consumer",
    "message_key",
    "session_id",
    "session",
    "name",
    "key",
    "kind",
    "state",
    "last_step",
    "calls",
    "reference",
    "error",
    "settle_seconds",
    "key_until",
    "started_at",
    "called_at",
    "settled_at",
    "probes",
    "probe_at",
    "decided_by",
    "conflict",
    "escalated_by",
    "version",
)


def of(cursor: Cursor, ids: Sequence[int]) -> list[EffectRow]:
    """The rows of these effects in the order given; unknown ones are left out."""
    if not ids:
        return []
    cursor.execute(SQL["rows"], {"ids": list(ids)})
    found = {values[0]: _row(values) for values in cursor.fetchall()}
    return [found[each] for each in ids if each in found]


def of_message(cursor: Cursor, message_id: int) -> list[EffectRow]:
    """The effects of a message, in the order in which they were begun."""
    cursor.execute(SQL["of_message"], {"id": message_id})
    return of(cursor, [row[0] for row in cursor.fetchall()])


def evidence(cursor: Cursor, ids: Sequence[int]) -> list[tuple[int, EvidenceRow]]:
    """(effect, what was learnt) of these effects, oldest first; the newest 100 of each."""
    if not ids:
        return []
    cursor.execute(SQL["evidence"], {"ids": list(ids)})
    return [(row[0], _evidence(row[1:])) for row in cursor.fetchall()]


def recorded(cursor: Cursor, message_ids: Sequence[int]) -> dict[int, Recorded]:
    """What a retry of each message would meet; a message without effects has no entry."""
    if not message_ids:
        return {}
    cursor.execute(SQL["recorded"], {"ids": list(message_ids)})
    return {
        row[0]: Recorded(completed=row[1], unknown=row[2], completed_at=row[3], without=row[4])
        for row in cursor.fetchall()
    }


def doubt(cursor: Cursor, session_id: int) -> Doubt | None:
    """The message in doubt that holds this session, or None."""
    cursor.execute(SQL["doubt"], {"session": session_id})
    row = cursor.fetchone()
    if row is None:
        return None
    return Doubt(message_id=row[0], effect_id=row[1], effect=row[2], at=row[3], attempts=row[4])


def lease(cursor: Cursor, session_id: int) -> Lease | None:
    """Who holds the lease of this session, or None."""
    cursor.execute(SQL["lease"], {"session": session_id})
    row = cursor.fetchone()
    if row is None:
        return None
    return Lease(
        message_id=row[0],
        fence=row[1],
        holder=row[2],
        starts=row[3],
        renewals=row[4],
        taken_at=row[5],
        expires_at=row[6],
        is_live=row[7],
    )


def _row(values: tuple[Any, ...]) -> EffectRow:
    known = dict(zip(_COLUMNS, values, strict=False))
    newest = values[len(_COLUMNS) :]
    return EffectRow(**known, evidence=None if newest[0] is None else _evidence(newest))


def _evidence(values: tuple[Any, ...]) -> EvidenceRow:
    return effect_values.evidence(values, json.loads(values[4], parse_float=str))
