"""What this database knows and a backup of some moment does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.store import connections
from monitor.store.sql import load

SQL = load(__file__)

_ROWS_A_TURN = 2_000
# A person reads along, perhaps through a pager: neither a long answer nor a pause is a fault.
_PATIENCE = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKey:
    """A message that came, was done, or whose effects moved since then. done_at None: not done."""

    consumer: str
    origin: str
    key: str
    message: int
    state: str
    received_at: datetime
    done_at: datetime | None
    effects: tuple[dict[str, Any], ...]  # name, key, state and reference of each call


def since(moment: datetime) -> Iterator[KnownKey]:
    """All of them in the order of arrival, read as they are taken, on a connection of its own."""
    with connections.connect() as own:
        own.execute(_PATIENCE)
        with own.cursor(name="known_keys") as cursor:
            cursor.itersize = _ROWS_A_TURN
            cursor.execute(SQL["since"], {"since": moment})
            for consumer, origin, key, number, state, received_at, done_at, effects in cursor:
                yield KnownKey(
                    consumer=consumer,
                    origin=origin,
                    key=key,
                    message=number,
                    state=state,
                    received_at=received_at,
                    done_at=done_at,
                    effects=tuple(effects),
                )
