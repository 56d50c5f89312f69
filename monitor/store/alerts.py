"""What a person should know: one live alert for each cause, raised again and again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.domain.states import AlertKind
from monitor.store.sql import Cursor, load

SQL = load(__file__)

_LONGEST_CAUSE = 300  # characters, so that an index can hold it


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """What an alert is raised for: kind, consumer and subject name it. target: the row to look at.

    cause: what it shares with others of its kind and consumer, which make one group with it; "":
    the subject itself, or what it was first raised with.
    """

    kind: AlertKind
    consumer: int
    subject: str
    title: str
    target: int
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A stored alert, locked."""

    consumer: int
    title: str
    state: str
    acknowledged_by: str | None
    acknowledged_at: datetime | None
    version: int


def raise_many(cursor: Cursor, alerts: Sequence[Alert]) -> int:
    """Open or raise the alerts of these causes; equal ones add to one count.

    Returns how many different causes there were. Locks alert rows, so call it after the rows that
    cause them are written.
    """
    if not alerts:
        return 0
    cursor.execute(
        SQL["raise_many"],
        {
            "kinds": [str(alert.kind) for alert in alerts],
            "consumers": [alert.consumer for alert in alerts],
            "subjects": [alert.subject for alert in alerts],
            "titles": [alert.title for alert in alerts],
            "targets": [alert.target for alert in alerts],
            "causes": [alert.cause[:_LONGEST_CAUSE] or None for alert in alerts],
        },
    )
    return int(cursor.rowcount)


def resolve(cursor: Cursor, kind: AlertKind, consumer: int, subject: str) -> int:
    """Close the live alert of a cause that is gone. Returns 1, or 0 when none was live."""
    cursor.execute(SQL["resolve"], {"kind": str(kind), "consumer": consumer, "subject": subject})
    return int(cursor.rowcount)


def resolve_dead_letters(cursor: Cursor, causes: Iterable[tuple[int, str]]) -> int:
    """Close the alert of each (consumer, cause) that has no dead row left. Returns how many.

    Two statements, because the second needs a snapshot taken under the locks of the first:
    a worker that sets a message aside at this moment keeps its alert.
    """
    pairs = sorted(set(causes))
    if not pairs:
        return 0
    cursor.execute(
        SQL["lock_dead_letters"],
        {"consumers": [pair[0] for pair in pairs], "causes": [pair[1] for pair in pairs]},
    )
    ids = [row[0] for row in cursor.fetchall()]
    if not ids:
        return 0
    cursor.execute(SQL["resolve_dead_letters"], {"ids": ids})
    closed = int(cursor.rowcount)
    if closed < len(ids):
        cursor.execute(SQL["retarget_dead_letters"], {"ids": ids})
    return closed


def resolve_mismatch(cursor: Cursor, consumer: int, message_id: int) -> int:
    """Close the alert on a message's mismatches when each has its verdict. Returns 1 or 0."""
    cursor.execute(
        SQL["lock_one"],
        {"kind": str(AlertKind.MISMATCH), "consumer": consumer, "subject": str(message_id)},
    )
    row = cursor.fetchone()
    if row is None:
        return 0
    values = {"id": row[0], "message_id": message_id}
    cursor.execute(SQL["resolve_decided"], values)
    closed = int(cursor.rowcount)
    if not closed:
        cursor.execute(SQL["retarget_mismatch"], values)
    return closed


def resolve_sessions(cursor: Cursor, sessions: Iterable[int]) -> int:
    """Close the alerts of sessions that nothing holds; the caller holds their lanes. How many."""
    subjects = [str(session) for session in sorted(set(sessions))]
    if not subjects:
        return 0
    cursor.execute(SQL["resolve_sessions"], {"subjects": subjects})
    return int(cursor.rowcount)


def find(cursor: Cursor, alert_id: int) -> Found | None:
    """The alert, locked until the caller's transaction ends; None when it does not exist."""
    cursor.execute(SQL["find"], {"id": alert_id})
    row = cursor.fetchone()
    if row is None:
        return None
    return Found(
        consumer=row[0],
        title=row[1],
        state=row[2],
        acknowledged_by=row[3],
        acknowledged_at=row[4],
        version=row[5],
    )


def acknowledge(cursor: Cursor, alert_id: int, *, actor: str, seen: int) -> int:
    """Mark an open alert as seen by the actor. Returns 1, or 0 when it is no longer as seen."""
    cursor.execute(SQL["acknowledge"], {"id": alert_id, "actor": actor, "seen": seen})
    return int(cursor.rowcount)
