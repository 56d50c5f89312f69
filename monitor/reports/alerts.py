"""Alerts: what a person should know."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.domain.triage import GROWTH
from monitor.reports.page import FIRST_ID, LIMIT, Page, bounded, build, place
from monitor.reports.reading import Cursor, is_storable, reading
from monitor.store import sql

SQL = sql.load(__file__)

CAP = 1_000  # the badge counts exactly up to here


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRow:
    """One alert. state: open, acknowledged or resolved. version: what acknowledge names.

    target: id of the mismatch, the dead message or the session that the kind speaks of.
    """

    id: int
    kind: str
    consumer_id: int
    consumer: str
    subject: str
    title: str
    target: int
    count: int
    first_at: datetime
    last_at: datetime
    state: str
    acknowledged_by: str
    acknowledged_at: datetime | None
    resolved_at: datetime | None
    version: int


def page(
    cursor: str | None = None,
    *,
    limit: int = LIMIT,
    state: str = "open",
    kind: str | None = None,
    consumer: int | None = None,
) -> Page[AlertRow]:
    """Alerts of one state: live ones by their last time, resolved ones by age, newest first."""
    is_live = state != "resolved"
    start, limit = place(cursor, datetime if is_live else int), bounded(limit)
    if not is_storable(state + (kind or "")):
        return Page(rows=())
    values: dict[str, Any] = {
        "back": start.back,
        "sort": start.sort,
        "id": start.id,
        "count": limit + 1,
        "state": state,
        "kind": kind,
        "consumer": consumer,
    }
    with reading() as open_cursor:
        open_cursor.execute(SQL["live" if is_live else "resolved"], values)
        rows = [_row(found) for found in open_cursor.fetchall()]
    return build(rows, start, limit, key=lambda row: (row.last_at if is_live else row.id, row.id))


def detail(alert_id: int) -> AlertRow | None:
    """One alert, or None."""
    if abs(alert_id) > FIRST_ID:
        return None
    with reading() as cursor:
        cursor.execute(SQL["one"], {"id": alert_id})
        found = cursor.fetchone()
    return None if found is None else _row(found)


def open_count() -> int:
    """How many alerts are open and not snoozed, for the badge; 1,001 means more than 1,000."""
    with reading() as cursor:
        cursor.execute(SQL["open_awake"], {"count": CAP + 1, "growth": GROWTH})
        return int(cursor.fetchone()[0])


def open_by_kind(cursor: Cursor, *, cap: int) -> dict[str, int]:
    """Open alerts by kind, `cap` of them at most looked at."""
    cursor.execute(SQL["open_by_kind"], {"count": cap})
    return dict(cursor.fetchall())


def _row(values: tuple[Any, ...]) -> AlertRow:
    return AlertRow(
        id=values[0],
        kind=values[1],
        consumer_id=values[2],
        consumer=values[3],
        subject=values[4],
        title=values[5],
        target=values[6],
        count=values[7],
        first_at=values[8],
        last_at=values[9],
        state=values[10],
        acknowledged_by=values[11],
        acknowledged_at=values[12],
        resolved_at=values[13],
        version=values[14],
    )
