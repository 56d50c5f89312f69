"""Corrected texts of messages, beside the one that was accepted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from monitor.domain.fingerprint import HASH_VERSION
from monitor.store.sql import Cursor, load

SQL = load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """What a message runs with. revision 1: as it was accepted, by nobody."""

    revision: int
    payload: bytes
    content_type: str
    actor: str
    at: datetime | None
    source: str  # of the message


def newest(cursor: Cursor, message_id: int) -> Text | None:
    """What the message runs with now; None when its body is gone."""
    cursor.execute(SQL["newest"], {"id": message_id})
    row = cursor.fetchone()
    if row is None:
        return None
    return Text(
        revision=row[0],
        payload=bytes(row[1]),
        content_type=row[2],
        actor=row[3],
        at=row[4],
        source=row[5],
    )


def add(  # noqa: PLR0913 - the columns of one row, by name
    cursor: Cursor,
    message_id: int,
    text: Text,
    *,
    payload: bytes,
    fingerprint: bytes,
    actor: str,
    reason: str,
) -> bool:
    """Add the revision after `text`. False: somebody added one meanwhile."""
    cursor.execute(
        SQL["add"],
        {
            "id": message_id,
            "revision": text.revision + 1,
            "payload": payload,
            "content_type": text.content_type,
            "fingerprint": fingerprint,
            "hash_version": HASH_VERSION,
            "actor": actor,
            "reason": reason,
        },
    )
    return cursor.rowcount == 1
