"""Clicks that were carried out, so that none is carried out twice."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from monitor.store.sql import Cursor, load

SQL = load(__file__)


def take(cursor: Cursor, click: UUID, actor: str) -> bool:
    """Mark a click as carried out by this transaction. False: an earlier one did."""
    cursor.execute(SQL["take"], {"click": click, "actor": actor})
    return cursor.rowcount == 1


def find(cursor: Cursor, click: UUID) -> tuple[str, datetime] | None:
    """Who carried out a click and when; None when nobody did."""
    cursor.execute(SQL["find"], {"click": click})
    row = cursor.fetchone()
    return None if row is None else (row[0], row[1])
