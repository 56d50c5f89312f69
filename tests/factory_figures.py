"""Rows that hold figures and acts: counters, snapshots, workers, timeline and audit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import connection

from monitor.store import snapshots
from tests.rows import one, run


def counters(
    consumer_id: int, *, name: str, label: str = "", value: float = 1, folded: bool = False
) -> None:
    """A counter's growth in this minute: as an unfolded delta, or already folded."""
    values = {"c": consumer_id, "name": name, "label": label, "value": value}
    if not folded:
        run(
            "INSERT INTO comboio_rollup_delta (consumer, name, label, value)"
            " VALUES (%(c)s, %(name)s, %(label)s, %(value)s)",
            **values,
        )
        return
    run(
        "INSERT INTO comboio_rollup AS r (minute, consumer, name, label, value)"
        " VALUES (date_trunc('minute', now()), %(c)s, %(name)s, %(label)s, %(value)s)"
        " ON CONFLICT (minute, consumer, name, label)"
        " DO UPDATE SET value = r.value + excluded.value",
        **values,
    )
    run(
        "INSERT INTO comboio_total AS t (consumer, name, label, value)"
        " VALUES (%(c)s, %(name)s, %(label)s, %(value)s)"
        " ON CONFLICT (consumer, name, label) DO UPDATE SET value = t.value + excluded.value",
        **values,
    )


def counted(
    consumer_id: int, at: datetime, *, name: str, label: str = "", value: float = 1
) -> None:
    """A counter's growth in the minute of that moment, folded; a second call adds to it."""
    run(
        "INSERT INTO comboio_rollup AS r (minute, consumer, name, label, value)"
        " VALUES (date_trunc('minute', %(at)s::timestamptz), %(c)s, %(name)s, %(label)s, %(value)s)"
        " ON CONFLICT (minute, consumer, name, label)"
        " DO UPDATE SET value = r.value + excluded.value",
        at=at,
        c=consumer_id,
        name=name,
        label=label,
        value=value,
    )


def deploy(release: str, at: datetime | None = None) -> int:
    """A release that workers were first seen with; its id."""
    number = one(
        "INSERT INTO comboio_deploy (release, previous, at) VALUES (%(release)s,"
        " (SELECT coalesce(max(id), 0) FROM comboio_deploy), coalesce(%(at)s, now())) RETURNING id",
        release=release,
        at=at,
    )
    return int(number)


def type_hour(
    consumer_id: int, name: str, *, runs: float, seconds: float, is_rest: bool = False
) -> None:
    """Runs of a type in this hour."""
    run(
        "INSERT INTO comboio_type_hour (consumer, hour, type, is_rest, runs, seconds)"
        " VALUES (%(c)s, date_trunc('hour', now()), %(type)s, %(rest)s, %(runs)s, %(seconds)s)",
        c=consumer_id,
        type=name,
        rest=is_rest,
        runs=runs,
        seconds=seconds,
    )


def snapshot() -> None:
    """Take the snapshot that the clock takes, of the rows that stand now."""
    with connection.cursor() as cursor:
        snapshots.take(cursor)


def worker(*, process: str = "worker", ids: Sequence[int] = (), seconds_ago: float = 0) -> int:
    """A worker's heartbeat of so many seconds ago; its slot."""
    slot = one(
        "INSERT INTO comboio_worker (process, host, pid, ids, at) VALUES (%(process)s, 'host-1', 7,"
        " %(ids)s::bigint[], clock_timestamp() - make_interval(secs => %(ago)s)) RETURNING slot",
        process=process,
        ids=list(ids),
        ago=seconds_ago,
    )
    return int(slot)


def event(
    message_id: int,
    *,
    kind: str,
    actor: str = "",
    attempt: int | None = None,
    detail: Mapping[str, Any] | None = None,
) -> int:
    """One entry of a message's timeline; its id."""
    number = one(
        "INSERT INTO comboio_event (message_id, kind, actor, attempt, detail)"
        " VALUES (%(m)s, %(kind)s, %(actor)s, %(attempt)s, %(detail)s) RETURNING id",
        m=message_id,
        kind=kind,
        actor=actor,
        attempt=attempt,
        detail=json.dumps(detail or {}),
    )
    return int(number)


def audit(
    *,
    actor: str = "anna",
    verb: str = "requeue",
    kind: str = "message",
    object_id: int = 1,
    at: datetime | None = None,
    detail: Mapping[str, Any] | None = None,
) -> int:
    """One line of the audit; its id."""
    number = one(
        "INSERT INTO comboio_audit (actor, verb, object_kind, object_id, reason, at, detail)"
        " VALUES (%(actor)s, %(verb)s, %(kind)s, %(id)s, 'fixed', coalesce(%(at)s, now()),"
        " %(detail)s) RETURNING id",
        at=at,
        detail=json.dumps(detail or {}),
        actor=actor,
        verb=verb,
        kind=kind,
        id=object_id,
    )
    return int(number)
