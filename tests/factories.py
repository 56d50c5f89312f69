"""Rows for a state asked for: each function fills everything that goes with it.

Through Django's connection, in the caller's transaction. Keyword arguments but for the owner.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from django.db import connection, transaction

from monitor.domain import fingerprint, keys
from tests.rows import insert, one, run

_numbers = count(1)

Payload = bytes | str | Mapping[str, Any]


def consumer(
    *,
    name: str | None = None,
    source: str = "payments",
    when_dead: str = "skip",
    active: bool = True,
    held_by: str | None = None,
) -> int:
    """A consumer with its 256 lanes; its id. held_by: an operator holds it."""
    number = one("SELECT max(id) + 1 FROM comboio_consumer")
    run(f"INSERT INTO comboio_lane SELECT generate_series({number} * 256, {number} * 256 + 255)")
    return insert(
        "comboio_consumer",
        id=number,
        name=name or f"consumer.{number}",
        source=source,
        when_dead=when_dead,
        policy=json.dumps({"retry_limit": 5, "timeout_seconds": 30.0, "handler": "shop.apply"}),
        active=active,
        held=held_by is not None,
        held_by=held_by,
        held_at=None if held_by is None else _now(),
        held_reason=None if held_by is None else "downstream is away",
    )


def message(  # noqa: PLR0913 - the columns a test may want to choose, by name
    consumer_id: int,
    *,
    state: str = "ready",
    session: str = "s1",
    key: str | None = None,
    payload: Payload | None = None,
    type: str = "payment",  # noqa: A002 - the column's name
    origin: str = "payments",
    content_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
    sequence: int | None = None,
    received_at: datetime | None = None,
    reason: str = "poison",
    error: str = "ValueError: no such account",
    cause: str | None = None,
    holds: bool = False,
    result: Any = None,
) -> int:
    """A message in a state (ready, waiting for a retry, dead, done or discarded); its id.

    session "" means none. holds: a dead one holds its session, with the gate and the alert.
    """
    number = one("SELECT nextval('comboio_message_id')")
    session_id = keys.session_id(consumer_id, session) if session else -number
    place = {"id": number, "lane": keys.lane(consumer_id, session_id), "session": session_id}
    key, at = key or f"key-{number}", received_at or _now()
    body = _bytes(payload or {"amount": number})
    if session:
        run(
            "INSERT INTO comboio_session VALUES (%(id)s, %(c)s, %(key)s) ON CONFLICT DO NOTHING",
            id=session_id,
            c=consumer_id,
            key=session,
        )
    insert(
        "comboio_message",
        **place,
        consumer=consumer_id,
        source="payments",
        origin=origin,
        key=key,
        type=type,
        sequence=sequence,
        content_type=content_type,
        payload=body,
        headers=json.dumps(headers or {"user-agent": "producer/1"}),
        received_at=at,
    )
    insert(
        "comboio_dedup",
        returning="message_id",
        consumer=consumer_id,
        key=keys.dedup_key(origin, key),
        message_id=number,
        fingerprint=_fingerprint(body, content_type),
        hash_version=1,
        seen_at=at,
    )
    if state in ("ready", "waiting"):
        insert("comboio_ready", **place)
    if state == "waiting":
        gate(session_id, retry_of=number, error=error)
    if state == "done":
        done(number, result=result)
    if state == "dead":
        bury(number, reason=reason, error=error, cause=cause)
    if state == "discarded":
        discarded(number, reason=reason, error=error, cause=cause)
    if holds:
        gate(session_id, dead_message=number, error=error)
        subject = str(session_id)
        alert(consumer_id, kind="held session", subject=subject, target=session_id)
    return number


def done(
    message_id: int, *, result: Any = None, milliseconds: float = 2.5, attempts: int = 1
) -> None:
    """The done row of a message that stands nowhere else."""
    insert(
        "comboio_done",
        id=message_id,
        consumer=_of(message_id)["consumer"],
        ms=milliseconds,
        attempts=attempts,
        result=None if result is None else json.dumps(result),
    )


def bury(message_id: int, *, reason: str, error: str, cause: str | None = None) -> None:
    """The dead row of a message that stands nowhere else, and its alert."""
    row, cause = _of(message_id), cause or f"{reason}: {error}"
    insert(
        "comboio_dead",
        **row,
        reason=reason,
        error_class=error.partition(":")[0],
        error=error,
        cause=cause,
        attempts=5,
    )
    alert(row["consumer"], kind="dead letter", subject=cause, title=error, target=message_id)


def discarded(message_id: int, *, reason: str, error: str, cause: str | None = None) -> None:
    """The discarded row of a message that stands nowhere else."""
    insert(
        "comboio_discarded",
        **_of(message_id),
        reason=reason,
        error_class=error.partition(":")[0],
        error=error,
        cause=cause or f"{reason}: {error}",
        attempts=5,
        dead_at=_now(),
        discarded_by="anna",
        note="not needed",
    )


def gate(
    session_id: int,
    *,
    held_by: str | None = None,
    dead_message: int | None = None,
    retry_of: int | None = None,
    solo_until: int | None = None,
    error: str = "",
) -> None:
    """Why a session does not run: held by an operator, a dead head, a retry, or alone."""
    insert(
        "comboio_gate",
        returning="session",
        session=session_id,
        lane=one("SELECT lane FROM comboio_message WHERE session = %(s)s LIMIT 1", s=session_id),
        held=held_by is not None,
        held_by=held_by,
        held_reason=None if held_by is None else "asked to wait",
        dead_message=dead_message,
        retry_at=None if retry_of is None else _now() + timedelta(minutes=1),
        head=retry_of,
        attempts=0 if retry_of is None else 1,
        solo_until=solo_until,
        error=error,
    )


def duplicate(message_id: int, *, cause: str = "repeated", gap_seconds: float = 3.0) -> int:
    """One more duplicate of a message, counted on its dedup row; its number."""
    number = one(
        "UPDATE comboio_dedup SET duplicates = duplicates + 1 WHERE message_id = %(id)s"
        " RETURNING duplicates",
        id=message_id,
    )
    insert(
        "comboio_duplicate",
        returning="n",
        message_id=message_id,
        n=number,
        consumer=_of(message_id)["consumer"],
        source="payments",
        cause=cause,
        gap_seconds=gap_seconds,
    )
    return number


def mismatch(
    message_id: int,
    *,
    payload: Payload | None = None,
    verdict: str | None = None,
    headers: Mapping[str, str] | None = None,
    content_type: str = "application/json",
) -> int:
    """Another payload under the key of a message, with its alert unless decided; its id."""
    body, owner = _bytes(payload or {"amount": -message_id}), _of(message_id)["consumer"]
    run(
        "UPDATE comboio_dedup SET mismatches = mismatches + 1 WHERE message_id = %(m)s",
        m=message_id,
    )
    number = insert(
        "comboio_mismatch",
        message_id=message_id,
        consumer=owner,
        fingerprint=_fingerprint(body, content_type),
        hash_version=1,
        content_type=content_type,
        payload=body,
        headers=json.dumps(headers or {"user-agent": "producer/2"}),
        type="payment",
        verdict=verdict,
        verdict_by=None if verdict is None else "anna",
        verdict_at=None if verdict is None else _now(),
        verdict_reason=None if verdict is None else "asked the producer",
    )
    if verdict is None:
        alert(owner, kind="mismatch", subject=str(message_id), target=number)
    return number


def alert(
    consumer_id: int,
    *,
    kind: str = "dead letter",
    subject: str | None = None,
    title: str = "Something needs a person",
    target: int = 1,
    state: str = "open",
) -> int:
    """An alert; the same live one again is raised, as the engine does. Its id."""
    return one(
        "INSERT INTO comboio_alert AS a (kind, consumer, subject, title, target, state,"
        " acknowledged_by, acknowledged_at, resolved_at) VALUES (%(kind)s, %(c)s, %(subject)s,"
        " %(title)s, %(target)s, %(state)s, CASE %(state)s WHEN 'acknowledged' THEN 'anna' END,"
        " CASE %(state)s WHEN 'acknowledged' THEN now() END,"
        " CASE %(state)s WHEN 'resolved' THEN now() END)"
        " ON CONFLICT (kind, consumer, subject) WHERE state <> 'resolved'"
        " DO UPDATE SET count = a.count + 1, last_at = now(), target = excluded.target"
        " RETURNING id",
        kind=kind,
        c=consumer_id,
        subject=subject or f"subject-{next(_numbers)}",
        title=title,
        target=target,
        state=state,
    )


def _of(message_id: int) -> dict[str, int]:
    names = ("id", "consumer", "lane", "session")
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {', '.join(names)} FROM comboio_message WHERE id = %s", [message_id]
        )
        return dict(zip(names, cursor.fetchone(), strict=True))


def _bytes(payload: Payload) -> bytes:
    if isinstance(payload, bytes):
        return payload
    return (payload if isinstance(payload, str) else json.dumps(payload)).encode()


def _fingerprint(body: bytes, content_type: str) -> bytes:
    return fingerprint.fingerprint(body, content_type)


def _now() -> datetime:
    return datetime.now(UTC)


def bury_many(consumer: int, count: int, cause: str) -> None:
    """Many dead messages at once: copies of one that the factories make."""
    with transaction.atomic():
        first = message(consumer, state="dead", session="", cause=cause)
        run(
            "CREATE TEMPORARY TABLE copies ON COMMIT DROP AS"
            f" SELECT nextval('comboio_message_id') AS id FROM generate_series(2, {count})"
        )
        run(
            "INSERT INTO comboio_message (id, consumer, lane, session, source, origin, key, type,"
            " content_type, payload, headers) SELECT c.id, consumer, lane, -c.id, source, origin,"
            " 'copy-' || c.id, type, content_type, payload, headers FROM copies c,"
            " comboio_message m WHERE m.id = %(first)s",
            first=first,
        )
        run(
            "INSERT INTO comboio_dead (id, consumer, lane, session, reason, error_class, error,"
            " cause, attempts) SELECT c.id, consumer, lane, -c.id, reason, error_class, error,"
            " cause, attempts FROM copies c, comboio_dead d WHERE d.id = %(first)s",
            first=first,
        )
