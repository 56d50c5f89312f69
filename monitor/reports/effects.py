"""Effects: which outcome is unknown, what the evidence says, and how each was settled."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from monitor.reports import effect_rows, payloads, redacting, states
from monitor.reports.effect_values import EffectDetail, EffectRow, EvidenceRow
from monitor.reports.page import FIRST_ID, LIMIT, Page, bounded, build, place
from monitor.reports.reading import reading
from monitor.reports.redacting import Redactor
from monitor.store import sql

__all__ = ["SHOWN", "EffectDetail", "EffectRow", "EvidenceRow", "detail", "page"]

SQL = sql.load(__file__)

SHOWN = ("doubt", "conflict", "settled")
_PARKED_CAP = 10_000


def page(
    cursor: str | None = None,
    *,
    limit: int = LIMIT,
    show: str = "doubt",
    consumer: int | None = None,
) -> Page[EffectRow]:
    """Effects in doubt, those with evidence against their decision, or the settled ones.

    In doubt: the latest begun first; the others: the newest first.
    """
    is_doubt = show == "doubt"
    start, limit = place(cursor, datetime if is_doubt else int), bounded(limit)
    values: dict[str, Any] = {
        "back": start.back,
        "sort": start.sort,
        "id": start.id,
        "count": limit + 1,
        "consumer": consumer,
    }
    with reading() as open_cursor:
        open_cursor.execute(SQL[show], values)
        rows = effect_rows.of(open_cursor, [row[0] for row in open_cursor.fetchall()])
    return build(
        rows, start, limit, key=lambda row: (row.started_at if is_doubt else row.id, row.id)
    )


def detail(effect_id: int, *, is_whole: bool = False) -> EffectDetail | None:
    """One effect with all evidence, or None. parked: what waits behind it, 10,001 means more.

    is_whole: nothing of it is redacted; only for a look that the audit knows.
    """
    if abs(effect_id) > FIRST_ID:
        return None
    with reading() as cursor:
        rows = effect_rows.of(cursor, [effect_id])
        if not rows:
            return None
        cursor.execute(SQL["bodies"], {"id": effect_id, "count": _PARKED_CAP + 1})
        request, result, parked = cursor.fetchone()
        standing = states.of(cursor, [rows[0].message_id])[rows[0].message_id]
        opened = Redactor(policy=redacting.OPEN)
        redactor = (
            opened
            if is_whole
            else redacting.of_message(cursor, rows[0].message_id, rows[0].consumer)
        )
        whole = [row for _effect, row in effect_rows.evidence(cursor, [effect_id], opened)]
        found = [row for _effect, row in effect_rows.evidence(cursor, [effect_id], redactor)]
    bodies = [payloads.pretty(each, redactor) if each else "" for each in (request, result)]
    return EffectDetail(
        row=effect_rows.redacted(rows[0], redactor),
        evidence=tuple(found),
        message_state=standing.state,
        parked=parked,
        request=bodies[0],
        result=bodies[1],
        is_redacted=found != whole
        or bodies != [payloads.pretty(each, opened) if each else "" for each in (request, result)],
    )
