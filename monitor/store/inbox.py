"""The inbox: judges deliveries and remembers the first of each key."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from monitor.domain.fingerprint import HASH_VERSION
from monitor.domain.message import Delivery
from monitor.store.sql import load

SQL = load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One delivery for one consumer, to be judged. repeats: equal copies in the same batch."""

    delivery: Delivery
    consumer_id: int
    dedup_key: UUID
    fingerprint: bytes
    session_hash: int
    session_key: str
    repeats: int = 0
    is_numbered: bool = False  # its consumer runs sessions by sequence number
    dead_reason: str = ""
    dead_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the inbox decided about the row at `place` of the batch; message_id is the first's."""

    place: int
    message_id: int
    is_new: bool
    is_same: bool
    seen_at: datetime
    state: str | None
    cause: str | None
    dead_reason: str  # of a new one that was set aside at once; else ""
    dead_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MismatchRecord:
    """The record of a payload that differs from the first one of its key."""

    id: int
    count: int
    verdict: str | None
    accepted_id: int | None


def accept(cursor: psycopg.Cursor[Any], rows: Sequence[Row]) -> list[Judgement]:
    """Judge and store a batch; each (consumer, key) may stand in it once. In the order of rows.

    Wants a transaction at READ COMMITTED, commits nothing.
    """
    cursor.execute(SQL["accept"], _columns(rows))
    judged = [
        Judgement(
            place=n - 1,
            message_id=message_id,
            is_new=is_new,
            is_same=is_same,
            seen_at=seen_at,
            state=state,
            cause=cause,
            dead_reason=reason,
            dead_text=text,
        )
        for n, message_id, is_new, is_same, seen_at, state, cause, reason, text, _ in cursor
    ]
    return sorted(judged, key=lambda each: each.place)


def move_behind(
    cursor: psycopg.Cursor[Any], rows: Sequence[Row], ids: Sequence[int]
) -> dict[int, int]:
    """Give messages that this transaction accepted the next ids; old to new. rows: of them all."""
    cursor.execute(
        SQL["move_behind"],
        {
            "ids": list(ids),
            "consumers": [row.consumer_id for row in rows],
            "keys": [row.dedup_key for row in rows],
        },
    )
    return dict(cursor.fetchall())


def record_mismatch(cursor: psycopg.Cursor[Any], first_id: int, row: Row) -> MismatchRecord:
    """Remember another payload under the key of message first_id, or count it again."""
    cursor.execute(
        SQL["record_mismatch"],
        {
            "message_id": first_id,
            "consumer": row.consumer_id,
            "fingerprint": row.fingerprint,
            "hash_version": HASH_VERSION,
            "content_type": row.delivery.content_type,
            "payload": row.delivery.payload,
            "headers": json.dumps(dict(row.delivery.headers)),
            "type": row.delivery.type,
            "correlation_id": row.delivery.correlation_id,
            "traceparent": row.delivery.traceparent,
            "count": 1 + row.repeats,
        },
    )
    record = cursor.fetchone()
    assert record is not None  # noqa: S101 - an upsert with RETURNING gives one row
    return MismatchRecord(id=record[0], count=record[1], verdict=record[2], accepted_id=record[3])


def count_duplicate(
    cursor: psycopg.Cursor[Any], row: Row, dedup_key: UUID, cause: str
) -> datetime | None:
    """Count a delivery as duplicate of the message under dedup_key. When that was first seen."""
    cursor.execute(
        SQL["count_duplicate"],
        {
            "consumer": row.consumer_id,
            "dedup_key": dedup_key,
            "count": 1 + row.repeats,
            "source": row.delivery.source,
            "cause": cause,
        },
    )
    found = cursor.fetchone()
    return None if found is None else found[1]


def _columns(rows: Sequence[Row]) -> dict[str, Any]:
    deliveries = [row.delivery for row in rows]
    return {
        "hash_version": HASH_VERSION,
        "consumer": [row.consumer_id for row in rows],
        "dedup_key": [row.dedup_key for row in rows],
        "fingerprint": [row.fingerprint for row in rows],
        "repeats": [row.repeats for row in rows],
        "redelivered": [each.redelivered for each in deliveries],
        "session_hash": [row.session_hash for row in rows],
        "session_key": [row.session_key for row in rows],
        "source": [each.source for each in deliveries],
        "origin": [each.origin for each in deliveries],
        "key": [each.key for each in deliveries],
        "type": [each.type for each in deliveries],
        "sequence": [each.sequence for each in deliveries],
        "content_type": [each.content_type for each in deliveries],
        "payload": [each.payload for each in deliveries],
        "headers": [json.dumps(dict(each.headers)) for each in deliveries],
        "correlation_id": [each.correlation_id for each in deliveries],
        "traceparent": [each.traceparent for each in deliveries],
        "dead_reason": [row.dead_reason for row in rows],
        "dead_text": [row.dead_text for row in rows],
        "is_numbered": [row.is_numbered for row in rows],
        "is_last": [each.is_last for each in deliveries],
        "not_before": [each.not_before for each in deliveries],
        "sent_at": [each.sent_at for each in deliveries],
        "window_seconds": [each.window_seconds for each in deliveries],
        "old_is_dead": [each.old_is_dead for each in deliveries],
    }
