"""Reads effects by id or message: used by the Reconcile page and by everything about a message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from monitor.reports import json_text, redacting
from monitor.reports.effect_values import Doubt, EffectRow, EvidenceRow, Lease, Recorded
from monitor.reports.reading import Cursor
from monitor.reports.redacting import Redactor
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


def of_message(cursor: Cursor, message_id: int, redactor: Redactor) -> list[EffectRow]:
    """The effects of a message, in the order in which they were begun."""
    cursor.execute(SQL["of_message"], {"id": message_id})
    found = of(cursor, [row[0] for row in cursor.fetchall()])
    return [redacted(each, redactor) for each in found]


def redacted(row: EffectRow, redactor: Redactor) -> EffectRow:
    """The row without the hidden values of its message's payload."""
    evidence = row.evidence and replace(
        row.evidence,
        detail=tuple((name, redactor.text(value)) for name, value in row.evidence.detail),
    )
    return replace(
        row,
        reference=redactor.text(row.reference),
        error=redactor.text(row.error),
        conflict=redactor.text(row.conflict),
        evidence=evidence,
    )


def evidence(
    cursor: Cursor, ids: Sequence[int], redactor: Redactor
) -> list[tuple[int, EvidenceRow]]:
    """(effect, what was learnt) of these effects, oldest first; the newest 100 of each."""
    if not ids:
        return []
    cursor.execute(SQL["evidence"], {"ids": list(ids)})
    return [(row[0], _evidence(row[1:], redactor)) for row in cursor.fetchall()]


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
    redactor = Redactor(policy=redacting.policy("", known["consumer"]))
    shown = None if newest[0] is None else _evidence(newest, redactor)
    return redacted(EffectRow(**known, evidence=shown), redactor)


def _evidence(values: tuple[Any, ...], redactor: Redactor) -> EvidenceRow:
    return EvidenceRow(
        at=values[0],
        source=values[1],
        verdict=values[2],
        actor=values[3],
        detail=tuple(_details(values[4], redactor)),
    )


def _details(text: str, redactor: Redactor) -> Iterator[tuple[str, str]]:
    """What a piece of evidence holds, numbers as they are written, by name."""
    for name, value in json_text.parse(redactor.json(text)):
        if value in (None, "", []):
            continue
        if isinstance(value, str):
            is_hidden = redacting.is_marked(value)
            yield name, redacting.unmarked(value) if is_hidden else redactor.text(value)
        else:
            yield name, redactor.text("".join(json_text.compact(value)))
