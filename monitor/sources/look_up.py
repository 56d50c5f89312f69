"""What became of a message, for its sender: state, first arrival and result."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.db import connection

from monitor.domain import keys
from monitor.domain.message import Receipt
from monitor.domain.source import HttpSource
from monitor.domain.states import State
from monitor.store.sql import load

SQL = load(__file__)


def results(receipts: Iterable[Receipt]) -> dict[int, Any]:
    """The recorded results of the done messages among receipts, by message id."""
    done = [receipt.message_id for receipt in receipts if receipt.state is State.DONE]
    if not done:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(SQL["results"], {"ids": done})
        return {number: _value(result) for number, result in cursor.fetchall()}


def by_key(source: HttpSource, origin: str, key: str) -> list[dict[str, Any]]:
    """One entry per consumer of the source that took the key, by name; empty when none did."""
    with connection.cursor() as cursor:
        cursor.execute(SQL["by_key"], {"key": keys.dedup_key(origin, key), "source": source.name})
        return [_entry(*row) for row in cursor.fetchall()]


def _entry(consumer: str, message: int, seen_at: object, state: str, result: Any) -> dict[str, Any]:
    entry = {"consumer": consumer, "message": message, "first_seen": seen_at, "state": state}
    return {**entry, "result": _value(result)} if state == State.DONE else entry


def _value(result: Any) -> Any:
    # Django leaves jsonb as text, psycopg alone would parse it.
    return json.loads(result) if isinstance(result, str) else result
