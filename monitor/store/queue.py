"""The queue of ready messages: claim lanes, read keys, fetch bodies, finish."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg

from monitor.store.sql import load

SQL = load(__file__)

LANES_PER_CONSUMER = 256

# lane, session, id, gated, attempts, head; of a numbered one: its number, next, ended, gap_before
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Body:
    """A chosen message as stored. is_suspect: another process life announced it and never ended."""

    id: int
    session: int
    session_key: str | None
    source: str
    origin: str
    key: str
    type: str
    sequence: int | None
    content_type: str
    payload: bytes
    headers: str
    correlation_id: str | None
    traceparent: str | None
    received_at: datetime
    is_last: bool
    revision: int
    is_suspect: bool
    xid: int

    def header_values(self) -> dict[str, str]:
        """The stored headers, text to text."""
        found: dict[str, str] = json.loads(self.headers)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A message that went through: what its done row says, and its type for the counters.

    result is JSON text or None.
    """

    lane: int
    session: int
    id: int
    milliseconds: float
    attempts: int
    result: str | None
    type: str


def claim(cursor: psycopg.Cursor[Any], first: int, end: int, count: int) -> list[int]:
    """Lock up to count lanes in [first, end) that hold something and that nobody else holds."""
    cursor.execute(SQL["claim"], {"first": first, "end": end, "count": count})
    return [row[0] for row in cursor.fetchall()]


def lock_lane(cursor: psycopg.Cursor[Any], lane: int) -> bool:
    """Lock one lane. False: another worker holds it."""
    cursor.execute(SQL["lock_lane"], {"lane": lane})
    return cursor.fetchone() is not None


def read(
    cursor: psycopg.Cursor[Any],
    lanes: Sequence[int],
    after: Sequence[int],
    cap: int,
    *,
    is_numbered: bool = False,
) -> list[Key]:
    """Up to cap keys of each locked lane, in reading order from its cursor."""
    name = "read_numbered" if is_numbered else "read"
    cursor.execute(SQL[name], {"lanes": list(lanes), "after": list(after), "cap": cap})
    return cursor.fetchall()


def read_open(
    cursor: psycopg.Cursor[Any],
    lanes: Sequence[int],
    after: Sequence[int],
    probes: int,
    *,
    is_numbered: bool = False,
) -> list[Key]:
    """The heads of up to probes sessions of each locked lane, one index probe each."""
    name = "read_open_numbered" if is_numbered else "read_open"
    cursor.execute(SQL[name], {"lanes": list(lanes), "after": list(after), "probes": probes})
    return cursor.fetchall()


def bodies(cursor: psycopg.Cursor[Any], ids: Sequence[int], slot: int) -> list[Body]:
    """The messages in the order of ids; slot is the caller's own process life."""
    cursor.execute(SQL["bodies"], {"ids": list(ids), "slot": slot})
    return [Body(*row) for row in cursor.fetchall()]


def places(cursor: psycopg.Cursor[Any], ids: Sequence[int]) -> list[tuple[int, int, int]]:
    """(lane, session, id) of those of these messages that still wait in the queue."""
    cursor.execute(SQL["places"], {"ids": list(ids)})
    return [(row[0], row[1], row[2]) for row in cursor.fetchall()]


def is_ready(cursor: psycopg.Cursor[Any], lane: int, session: int, message_id: int) -> bool:
    """Whether the message still waits in the queue, by a snapshot of now."""
    cursor.execute(SQL["is_ready"], {"lane": lane, "session": session, "id": message_id})
    return cursor.fetchone() is not None


def transaction_id(cursor: psycopg.Cursor[Any]) -> int:
    """The id of the open transaction; finish() wants the same."""
    cursor.execute(SQL["transaction_id"])
    row = cursor.fetchone()
    return 0 if row is None else int(row[0])


def finish(
    cursor: psycopg.Cursor[Any],
    consumer: int,
    xid: int,
    batch: Sequence[Finished],
    counters: Sequence[tuple[str, str, float]],
) -> int:
    """Move the batch from ready to done and count it. How many really moved: assert it.

    counters: (name, label, value). Wants the transaction of the handlers' effects.
    """
    cursor.execute(
        SQL["finish"],
        {
            "consumer": consumer,
            "xid": xid,
            "lanes": [each.lane for each in batch],
            "sessions": [each.session for each in batch],
            "ids": [each.id for each in batch],
            "milliseconds": [each.milliseconds for each in batch],
            "attempts": [each.attempts for each in batch],
            "results": [each.result for each in batch],
            "names": [name for name, _, _ in counters],
            "labels": [label for _, label, _ in counters],
            "values": [value for _, _, value in counters],
        },
    )
    row = cursor.fetchone()
    return 0 if row is None else int(row[0])


def clear_gates(
    cursor: psycopg.Cursor[Any], sessions: Sequence[int], finished_ids: Sequence[int]
) -> None:
    """Remove the gates of those sessions whose head is among the finished messages."""
    cursor.execute(SQL["clear_gates"], {"sessions": list(sessions), "ids": list(finished_ids)})


def seconds_until_due(cursor: psycopg.Cursor[Any]) -> float | None:
    """Seconds until the next retry may run; None when no session waits for one."""
    cursor.execute(SQL["next_due"])
    row = cursor.fetchone()
    return None if row is None else row[0]
