"""Dead messages on their way back into the queue."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from monitor.domain.message import Delivery
from monitor.store.sql import Cursor, load

SQL = load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dead:
    """A dead message: where it stands, why, and the version a verb names."""

    id: int
    consumer: int
    lane: int
    session: int
    reason: str
    error: str  # its first 300 characters
    cause: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeued:
    """A message that is ready again. is_late: a follower of its session is done already."""

    id: int
    consumer: int
    session: int
    reason: str
    cause: str
    is_late: bool


def find(cursor: Cursor, message_id: int) -> Dead | None:
    """The dead message of that id; None when it is not dead. Locks nothing."""
    cursor.execute(SQL["find"], {"id": message_id})
    row = cursor.fetchone()
    return None if row is None else dead(row)


def of_cause(cursor: Cursor, cause: str, *, up_to_version: int, limit: int) -> list[Dead]:
    """The oldest dead messages of a cause that existed at that version, by id. Locks nothing."""
    cursor.execute(
        SQL["of_cause"], {"cause": cause, "up_to_version": up_to_version, "limit": limit}
    )
    return [dead(row) for row in cursor.fetchall()]


def requeue(cursor: Cursor, seen: Sequence[Dead]) -> list[Requeued]:
    """Put those back that are still dead as seen, by id. The caller holds their lanes."""
    cursor.execute(
        SQL["requeue"],
        {"ids": [each.id for each in seen], "versions": [each.version for each in seen]},
    )
    return [
        Requeued(
            id=id_, consumer=consumer, session=session, reason=reason, cause=cause, is_late=late
        )
        for id_, consumer, session, reason, cause, late in cursor.fetchall()
    ]


def deliveries(cursor: Cursor, seen: Sequence[Dead]) -> dict[int, Delivery]:
    """The stored deliveries, by id, of those that are still dead as seen and whose body is kept."""
    cursor.execute(
        SQL["deliveries"],
        {"ids": [each.id for each in seen], "versions": [each.version for each in seen]},
    )
    return {row[0]: _delivery(row) for row in cursor.fetchall()}


def dead(row: tuple[Any, ...]) -> Dead:
    """A row of find or of_cause as a value."""
    return Dead(
        id=row[0],
        consumer=row[1],
        lane=row[2],
        session=row[3],
        reason=row[4],
        error=row[5],
        cause=row[6],
        version=row[7],
    )


def _delivery(row: tuple[Any, ...]) -> Delivery:
    return Delivery(
        source=row[1],
        origin=row[2],
        key=row[3],
        type=row[4],
        session=row[5],
        sequence=row[6],
        payload=bytes(row[7]),
        content_type=row[8],
        headers=json.loads(row[9]),
        correlation_id=row[10],
        traceparent=row[11],
    )
