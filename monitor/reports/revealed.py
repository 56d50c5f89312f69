"""The whole of what is redacted elsewhere. Read it only for a look that the audit knows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from monitor.reports import effects, mismatches, payloads, redacting
from monitor.reports.page import FIRST_ID
from monitor.reports.payloads import SHOWN_BYTES, PayloadView
from monitor.reports.reading import reading
from monitor.store import sql

SQL = sql.load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing that is revealed: a body, or named values.

    what: payload, revision (with its number), result, headers, first, second, request, answer or
    evidence.
    """

    what: str
    number: int = 0
    view: PayloadView | None = None
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Revealed:
    """Everything of one object. title: what it is called, a message by its key."""

    title: str
    parts: tuple[Part, ...]


def of_message(message_id: int) -> Revealed | None:
    """Payload, newest corrections, result and headers of a message; None: it is not there."""
    if abs(message_id) > FIRST_ID:
        return None
    values = {"id": message_id, "count": SHOWN_BYTES}
    with reading() as cursor:
        cursor.execute(SQL["message"], values)
        row = cursor.fetchone()
        if row is None:
            return None
        cursor.execute(SQL["revisions"], values)
        revisions = [
            Part(what="revision", number=each[0], view=_view(*each[1:]))
            for each in cursor.fetchall()
        ]
    parts = [Part(what="payload", view=_view(*row[1:4])), *revisions]
    if row[5] is not None:
        parts.append(Part(what="result", view=_json(row[5])))
    headers: dict[str, Any] = json.loads(row[4])
    parts.append(Part(what="headers", pairs=tuple((n, str(headers[n])) for n in sorted(headers))))
    return Revealed(title=row[0], parts=tuple(each for each in parts if each.view or each.pairs))


def of_mismatch(mismatch_id: int) -> Revealed | None:
    """Both payloads of a mismatch; None: there is no such mismatch."""
    if abs(mismatch_id) > FIRST_ID:
        return None
    with reading() as cursor:
        cursor.execute(SQL["mismatch"], {"id": mismatch_id})
        row = cursor.fetchone()
    found = mismatches.comparison(mismatch_id, is_whole=True)
    if row is None or found is None:
        return None
    parts = [Part(what="first", view=found.first), Part(what="second", view=found.second)]
    for number, text in enumerate(row[1:], start=1):
        headers: dict[str, Any] = json.loads(text or "{}")
        pairs = tuple((name, str(headers[name])) for name in sorted(headers))
        parts.append(Part(what="headers", number=number, pairs=pairs))
    return Revealed(title=row[0], parts=tuple(each for each in parts if each.view or each.pairs))


def of_effect(effect_id: int) -> Revealed | None:
    """Request, answer and evidence of an effect; None: there is no such effect."""
    found = effects.detail(effect_id, is_whole=True)
    if found is None:
        return None
    parts = [Part(what="request", view=_json(found.request))]
    if found.result:
        parts.append(Part(what="answer", view=_json(found.result)))
    parts += [Part(what="evidence", pairs=each.detail) for each in found.evidence if each.detail]
    return Revealed(title=found.row.key, parts=tuple(parts))


def _view(content_type: str, payload: memoryview, size: int) -> PayloadView:
    return payloads.view(bytes(payload), content_type, size, redacting.OPEN)


def _json(text: str) -> PayloadView:
    encoded = text.encode()
    return payloads.view(encoded, "application/json", len(encoded), redacting.OPEN)
