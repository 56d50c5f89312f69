"""Rows that hold figures and acts: counters, snapshots, workers, timeline and audit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

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


def snapshot() -> None:
    """Take the snapshot that the clock takes, of the rows that stand now."""
    run("DELETE FROM comboio_consumer_snapshot")
    run("DELETE FROM comboio_session_snapshot")
    run(
        "INSERT INTO comboio_session_snapshot (session, consumer, backlog, head, head_at)"
        " SELECT r.session, r.lane / 256, count(*), min(r.id), min(m.received_at)"
        " FROM comboio_ready r JOIN comboio_message m ON m.id = r.id GROUP BY 1, 2"
    )
    run(
        "INSERT INTO comboio_consumer_snapshot (consumer, backlog, parked, waiting, sessions,"
        " held_sessions, oldest_at) SELECT c.id, coalesce(sum(s.backlog), 0),"
        " coalesce(sum(s.backlog) FILTER (WHERE g.held OR g.dead_message IS NOT NULL), 0),"
        " count(*) FILTER (WHERE g.retry_at IS NOT NULL), count(s.session),"
        " (SELECT count(*) FROM comboio_gate h WHERE h.lane / 256 = c.id"
        "     AND (h.held OR h.dead_message IS NOT NULL)), min(s.head_at)"
        " FROM comboio_consumer c LEFT JOIN comboio_session_snapshot s ON s.consumer = c.id"
        " LEFT JOIN comboio_gate g ON g.session = s.session WHERE c.id > 0 GROUP BY c.id"
    )


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
    *, actor: str = "anna", verb: str = "requeue", kind: str = "message", object_id: int = 1
) -> int:
    """One line of the audit; its id."""
    number = one(
        "INSERT INTO comboio_audit (actor, verb, object_kind, object_id, reason)"
        " VALUES (%(actor)s, %(verb)s, %(kind)s, %(id)s, 'fixed') RETURNING id",
        actor=actor,
        verb=verb,
        kind=kind,
        id=object_id,
    )
    return int(number)
