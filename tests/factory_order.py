"""Rows of the order within sessions: numbers, gaps, delays, throttled consumers, revisions.

Through Django's connection, in the caller's transaction.
"""

from __future__ import annotations

import json
from typing import Any

from monitor.domain import fingerprint
from tests import factories
from tests.rows import insert, one, run


def numbered(*, name: str | None = None, when_dead: str = "hold") -> int:
    """A consumer that numbers its sessions from 1; its id."""
    number = factories.consumer(name=name, when_dead=when_dead)
    run(
        "UPDATE comboio_consumer SET policy = policy || %(p)s::jsonb WHERE id = %(id)s",
        p=json.dumps({"numbered": {"starts_at": 1, "gap_seconds": 300.0}, "session": "account"}),
        id=number,
    )
    return number


def message(consumer_id: int, number: int, **more: Any) -> int:
    """A message with its number; a ready one stands in the queue by it. Its id."""
    made = factories.message(consumer_id, sequence=number, **more)
    run("UPDATE comboio_ready SET sequence = %(n)s WHERE id = %(id)s", n=number, id=made)
    return made


def progress(session_id: int, *, expects: int, ended: bool = False) -> None:
    """A session that has come so far."""
    insert(
        "comboio_sequence",
        returning="session",
        session=session_id,
        lane=_lane(session_id),
        next=expects,
        ended=ended,
    )


def gap(session_id: int, *, missing: int, before: int, alerted: bool = True) -> None:
    """A session that has waited for 10 minutes for a number; alerted: with its alert."""
    progress(session_id, expects=missing)
    run(
        "UPDATE comboio_sequence SET gap_since = now() - interval '10 min', gap_before = %(b)s,"
        " alerted_at = CASE WHEN %(a)s THEN now() END WHERE session = %(s)s",
        b=before,
        a=alerted,
        s=session_id,
    )
    if alerted:
        owner = _lane(session_id) // 256
        title = f"Session waits for number {missing}; {before} is there"
        subject = str(session_id)
        factories.alert(owner, kind="gap", subject=subject, title=title, target=session_id)


def delay(message_id: int, *, minutes: int = 30) -> None:
    """Take a ready message out of the queue until it is due."""
    run(
        "WITH gone AS (DELETE FROM comboio_ready WHERE id = %(id)s RETURNING *)"
        " INSERT INTO comboio_waiting (id, consumer, lane, session, sequence, due_at)"
        " SELECT id, lane / 256, lane, session, sequence, now() + make_interval(mins => %(m)s)"
        " FROM gone",
        id=message_id,
        m=minutes,
    )
    run(
        "UPDATE comboio_message SET not_before = now() + make_interval(mins => %(m)s)"
        " WHERE id = %(id)s",
        id=message_id,
        m=minutes,
    )


def throttle(consumer_id: int, *, error: str = "ConnectionError: gateway is away") -> None:
    """A consumer whose downstream has been away for 2 minutes, with its alert."""
    run(
        "INSERT INTO comboio_breaker (consumer, failures, opened_at, probe_at, error) VALUES"
        " (%(c)s, 7, now() - interval '2 min', now() + interval '20 s', %(error)s)",
        c=consumer_id,
        error=error,
    )
    factories.alert(consumer_id, kind="throttled consumer", title=error, target=consumer_id)


def revision(
    message_id: int, text: str, *, number: int = 2, actor: str = "bert", reason: str = "typo"
) -> None:
    """A corrected text of a message."""
    insert(
        "comboio_revision",
        returning="revision",
        message_id=message_id,
        revision=number,
        payload=text.encode(),
        content_type="application/json",
        fingerprint=fingerprint.fingerprint(text.encode(), "text/plain"),
        hash_version=1,
        actor=actor,
        reason=reason,
    )


def session_of(message_id: int) -> int:
    """The session of a message."""
    return int(one("SELECT session FROM comboio_message WHERE id = %(id)s", id=message_id))


def _lane(session_id: int) -> int:
    return int(one("SELECT lane FROM comboio_message WHERE session = %(s)s LIMIT 1", s=session_id))
