"""The consumers as the database knows them: ids, lanes, holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import psycopg

from monitor.domain.consumer import Consumer
from monitor.store import sequences
from monitor.store.sql import load

SQL = load(__file__)


def known(cursor: psycopg.Cursor[Any]) -> dict[str, int]:
    """The id of every consumer ever declared, by name."""
    cursor.execute(SQL["known"])
    return {row[1]: row[0] for row in cursor.fetchall()}


def declare(cursor: psycopg.Cursor[Any], consumers: Sequence[Consumer]) -> dict[str, int]:
    """Write down what the running code declares; ids by name. Wants a transaction.

    Unchanged rows are left alone: every process start calls this.
    """
    cursor.execute(SQL["lock"])
    cursor.execute(SQL["known"])
    rows = {row[1]: (*row[2:], row[0]) for row in cursor.fetchall()}
    for consumer in consumers:
        values = _values(consumer)
        if consumer.name not in rows:
            cursor.execute(SQL["add"], values)
        elif not _is_same(rows[consumer.name], consumer):
            cursor.execute(SQL["renew"], values)
            if consumer.numbered is not None:
                sequences.adopt(cursor, rows[consumer.name][-1])
    return known(cursor)


def retire(cursor: psycopg.Cursor[Any], names: Sequence[str]) -> int:
    """Mark every consumer that is not named as inactive. How many changed."""
    cursor.execute(SQL["retire"], {"names": [*names]})
    return cursor.rowcount


@dataclass(frozen=True, slots=True)
class Runnable:
    """A consumer with work. is_troubled: its downstream was away; is_throttled: one try is due."""

    id: int
    is_troubled: bool
    is_throttled: bool


def runnable(cursor: psycopg.Cursor[Any], ids: Sequence[int]) -> list[Runnable]:
    """Which of these consumers may run now and have messages in their lanes."""
    # Planned anew each time: outside a transaction nothing else keeps it from an old plan.
    cursor.execute(SQL["runnable"], {"ids": list(ids)}, prepare=False)
    return [Runnable(*row) for row in cursor.fetchall()]


def urgent(cursor: psycopg.Cursor[Any]) -> set[int]:
    """Consumers with something that a dead worker left: it comes before the backlog."""
    cursor.execute(SQL["urgent"], prepare=False)
    return {row[0] for row in cursor.fetchall()}


def _is_same(row: tuple[Any, ...], consumer: Consumer) -> bool:
    source, types, when_dead, policy, active, _ = row
    return bool(
        source == consumer.source
        and types == (None if consumer.types is None else list(consumer.types))
        and when_dead == consumer.when_dead
        and json.loads(policy) == _policy(consumer)
        and active
    )


def _values(consumer: Consumer) -> dict[str, Any]:
    return {
        "name": consumer.name,
        "source": consumer.source,
        "types": None if consumer.types is None else list(consumer.types),
        "when_dead": consumer.when_dead,
        "policy": json.dumps(_policy(consumer)),
    }


def _policy(consumer: Consumer) -> dict[str, Any]:
    return {
        "retry_limit": consumer.retry.limit,
        "retry_base_seconds": consumer.retry.base_seconds,
        "retry_cap_seconds": consumer.retry.cap_seconds,
        "timeout_seconds": consumer.timeout_seconds,
        "session": consumer.session,
        "payload": consumer.payload.__qualname__ if consumer.payload else None,
        "handler": _dotted_name(consumer.handler),
        "numbered": None if consumer.numbered is None else asdict(consumer.numbered),
        "concurrency": consumer.concurrency,
        "version": consumer.version,
        "fingerprint": None if consumer.fingerprint is None else asdict(consumer.fingerprint),
        "priority": None if consumer.priority is None else _dotted_name(consumer.priority),
        "check_session": consumer.check_session is not None,
    }


def _dotted_name(handler: Any) -> str:
    named = handler if hasattr(handler, "__qualname__") else type(handler)
    return f"{named.__module__}.{named.__qualname__}"
