"""What a test may ask about its messages: where they are, what died, which effects are recorded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.db import connection

from monitor.domain.states import DeadReason, State
from monitor.store.sql import load

SQL = load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One message: for which consumer, where it is, and its result once it is done."""

    id: int
    key: str
    consumer: str
    state: State
    result: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dead:
    """A message that was set aside. error: the class and text of what its handler raised."""

    id: int
    key: str
    consumer: str
    reason: DeadReason
    error: str
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """An effect as recorded. key: of the message; external_key: what the provider was given."""

    id: int
    key: str
    consumer: str
    name: str
    state: str
    last_step: str
    calls: int
    result: Any
    external_key: str
    decided_by: str


def messages(key: str | None, consumer: str | None) -> list[Standing]:
    """The messages of a key, for each consumer that took it, in the order of arrival."""
    return [
        Standing(id=number, key=text, consumer=name, state=State(state), result=_json(result))
        for number, text, name, state, result in _rows("messages", key, consumer)
    ]


def dead(key: str | None, consumer: str | None) -> list[Dead]:
    """The dead letters, in the order of arrival."""
    return [
        Dead(
            id=number,
            key=text,
            consumer=name,
            reason=DeadReason(reason),
            error=error,
            attempts=attempts,
        )
        for number, text, name, reason, error, attempts in _rows("dead", key, consumer)
    ]


def effects(key: str | None, consumer: str | None) -> list[Recorded]:
    """The recorded effects of external consumers, in the order of their recording."""
    return [
        Recorded(
            id=row[0],
            key=row[1],
            consumer=row[2],
            name=row[3],
            state=row[4],
            last_step=row[5],
            calls=row[6],
            result=_json(row[7]),
            external_key=row[8],
            decided_by=row[9],
        )
        for row in _rows("effects", key, consumer)
    ]


def _rows(statement: str, key: str | None, consumer: str | None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(SQL[statement], {"key": key, "consumer": consumer})
        return list(cursor.fetchall())


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)
