"""Audit: who did which verb to what."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from monitor.reports.page import FIRST_ID, LIMIT, MOST, Page, bounded, build, place
from monitor.reports.reading import Cursor, is_storable, reading
from monitor.store import sql

SQL = sql.load(__file__)

_SLACK = timedelta(hours=1)  # by which a clock may have been put back


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One act."""

    id: int
    at: datetime
    actor: str
    verb: str
    object_kind: str
    object_id: int
    reason: str
    detail: dict[str, Any]


def every(
    *,
    actor: str | None = None,
    verb: str | None = None,
    thing: tuple[str, int] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Iterator[AuditRow]:
    """All acts, newest first, read page by page, so that any number of them needs little memory."""
    cursor: str | None = None
    while True:
        found = page(
            cursor, limit=MOST, actor=actor, verb=verb, thing=thing, since=since, until=until
        )
        yield from found.rows
        if found.next is None:
            return
        cursor = found.next


def page(  # noqa: PLR0913 - each a filter of its own, by name
    cursor: str | None = None,
    *,
    limit: int = LIMIT,
    actor: str | None = None,
    verb: str | None = None,
    thing: tuple[str, int] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Page[AuditRow]:
    """Acts, newest first. thing: (object kind, object id). since: from then on; until: before."""
    start, limit = place(cursor, int), bounded(limit)
    if not is_storable((actor or "") + (verb or "") + (thing[0] if thing else "")):
        return Page(rows=())
    with reading() as open_cursor:
        values = {
            "back": start.back,
            "id": start.id,
            "count": limit + 1,
            "actor": actor,
            "verb": verb,
            "kind": thing[0] if thing else None,
            "object": thing[1] if thing else None,
            "since": since,
            "until": until,
            "first_id": 0 if since is None else _id_at(open_cursor, since - _SLACK),
            "end_id": FIRST_ID if until is None else _id_at(open_cursor, until + _SLACK),
        }
        open_cursor.execute(SQL["newest"], values)
        rows = [
            AuditRow(
                id=row[0],
                at=row[1],
                actor=row[2],
                verb=row[3],
                object_kind=row[4],
                object_id=row[5],
                reason=row[6],
                detail=json.loads(row[7]),
            )
            for row in open_cursor.fetchall()
        ]
    return build(rows, start, limit, key=lambda row: (row.id, row.id))


def _id_at(cursor: Cursor, at: datetime) -> int:
    """No act of this moment or later has a smaller id, as far as ids rise with the time."""
    cursor.execute(SQL["id_at"], {"at": at})
    return int(cursor.fetchone()[0])
