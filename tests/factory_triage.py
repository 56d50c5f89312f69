"""Groups of alerts in the past and now, and what people said of them."""

from __future__ import annotations

from itertools import count

from tests.rows import insert, one

_numbers = count(1)


def alert(  # noqa: PLR0913 - what a test may choose, by name
    consumer: int,
    *,
    kind: str = "held session",
    cause: str | None = "cause",
    subject: str | None = None,
    target: int = 1,
    first: float = 1.0,
    resolved: float | None = None,
    acknowledged_by: str | None = None,
    raised: int = 1,
) -> int:
    """An alert of a group; first and resolved are hours ago. Its id."""
    state = "resolved" if resolved is not None else "acknowledged" if acknowledged_by else "open"
    return int(
        one(
            "INSERT INTO comboio_alert (kind, consumer, subject, cause, title, target, count,"
            " first_at, last_at, state, acknowledged_by, acknowledged_at, resolved_at)"
            " VALUES (%(kind)s, %(consumer)s, %(subject)s, %(cause)s, 'It needs a person',"
            " %(target)s, %(raised)s, now() - make_interval(secs => %(first)s * 3600),"
            " now() - make_interval(secs => coalesce(%(resolved)s::float8, 0) * 3600),"
            " %(state)s, %(by)s, CASE WHEN %(by)s::text IS NOT NULL THEN now() END,"
            " now() - make_interval(secs => %(resolved)s::float8 * 3600)) RETURNING id",
            kind=kind,
            consumer=consumer,
            subject=subject or f"subject-{next(_numbers)}",
            cause=cause,
            target=target,
            raised=raised,
            first=first,
            resolved=resolved,
            state=state,
            by=acknowledged_by,
        )
    )


def said(  # noqa: PLR0913 - as above
    consumer: int,
    *,
    kind: str = "held session",
    cause: str = "cause",
    owner: str = "",
    note: str = "",
    ago: float = 0.0,
    snoozed_for: float | None = None,
    snoozed_raised: int = 1,
) -> int:
    """What anna said of a group, so many hours ago; snoozed_for: hours from now. Its id."""
    return int(
        one(
            "INSERT INTO comboio_triage (kind, consumer, cause, owner, owned_at, note, noted_by,"
            " noted_at, snoozed_until, snoozed_by, snoozed_at, snoozed_raised, created_at,"
            " changed_by, changed_at) SELECT %(kind)s, %(consumer)s, %(cause)s, %(owner)s,"
            " CASE WHEN %(owner)s <> '' THEN at END, %(note)s,"
            " CASE WHEN %(note)s <> '' THEN 'anna' ELSE '' END,"
            " CASE WHEN %(note)s <> '' THEN at END,"
            " now() + make_interval(secs => %(sleep)s::float8 * 3600),"
            " CASE WHEN %(sleep)s::float8 IS NULL THEN '' ELSE 'anna' END,"
            " CASE WHEN %(sleep)s::float8 IS NOT NULL THEN at END, %(raised)s, at, 'anna', at"
            " FROM (SELECT now() - make_interval(secs => %(ago)s * 3600) AS at) t RETURNING id",
            kind=kind,
            consumer=consumer,
            cause=cause,
            owner=owner,
            note=note,
            ago=ago,
            sleep=snoozed_for,
            raised=snoozed_raised,
        )
    )


def death(message_id: int, own: str) -> int:
    """The event of a death, with the own frames that were kept (JSON)."""
    return int(
        insert(
            "comboio_event",
            message_id=message_id,
            kind="dead",
            detail=f'{{"error": "x", "own": {own}}}',
        )
    )
