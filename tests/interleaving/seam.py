"""The seam: every round trip of an actor's thread to PostgreSQL passes its actor first.

psycopg runs each round trip through Connection.wait(), with a generator that has not sent anything
yet. What only sets a parameter or a savepoint of its own transaction goes with the next step: it
commutes with whatever another session does.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from monitor import store
from monitor.store import connections

_ALONE = ("SET ", "SELECT SET_CONFIG(", "SAVEPOINT ", "RELEASE SAVEPOINT ")
_COMMENTS = re.compile(r"--[^\n]*\n")
_NEVER_SENT = ("_set_autocommit_gen", "_set_isolation_level_gen", "_enter_gen")
_thread = threading.local()
_names: dict[str, str] = {}


class Stops(Protocol):
    """An actor as the seam knows it."""

    def stop(self, pid: int, statement: str) -> None:
        """Wait here until the schedule lets the statement go."""


def enter(actor: Stops) -> None:
    """From here on the round trips of this thread are steps of the actor."""
    _thread.actor = actor


@contextmanager
def unscheduled() -> Iterator[None]:
    """What a thread does in here is no step."""
    actor, _thread.actor = getattr(_thread, "actor", None), None
    try:
        yield
    finally:
        _thread.actor = actor


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the test ends; also keeps what connections.connect() gave, for the next schedule."""
    for module in pkgutil.iter_modules(store.__path__, f"{store.__name__}."):
        found = getattr(import_module(module.name), "SQL", {})
        _names.update((text, f"{module.name.rpartition('.')[2]}.{n}") for n, text in found.items())
    monkeypatch.setattr(psycopg.Connection, "wait", _waiting(psycopg.Connection.wait))
    monkeypatch.setattr(connections, "connect", _keeping(connections.connect))


def close() -> None:
    """Close the connections that were kept for this thread."""
    for each in getattr(_thread, "kept", {}).values():
        each.close()
    _thread.kept = {}


def _waiting(wait: Callable[..., Any]) -> Callable[..., Any]:
    def stopping(self: psycopg.Connection[Any], gen: Any, *more: Any, **named: Any) -> Any:
        actor: Stops | None = getattr(_thread, "actor", None)
        statement = _statement(self, gen) if actor is not None else ""
        if actor is not None and statement:
            actor.stop(self.pgconn.backend_pid, statement)
        return wait(self, gen, *more, **named)

    return stopping


def _keeping(connect: Callable[..., connections.Connection]) -> Callable[..., Any]:
    def kept(**wanted: Any) -> connections.Connection:
        mine: dict[Any, connections.Connection] = _thread.__dict__.setdefault("kept", {})
        kind = tuple(sorted(wanted.items()))
        if kind not in mine or mine[kind].closed:
            with unscheduled():
                mine[kind] = connect(**wanted)
        return mine[kind]

    return kept


def _statement(connection: psycopg.Connection[Any], gen: Any) -> str:
    """The name of what the generator would send; "" for what is no step."""
    kind: str = gen.gi_code.co_name
    if kind in _NEVER_SENT:
        return ""
    query = inspect.getgeneratorlocals(gen).get("query")
    if query is None:
        is_idle = connection.pgconn.transaction_status == TransactionStatus.IDLE
        words = {"_commit_gen": "COMMIT", "_rollback_gen": "ROLLBACK", "_exit_gen": "COMMIT"}
        return "" if is_idle else words.get(kind, kind)
    text = query.decode() if isinstance(query, bytes) else str(query)
    bare = " ".join(_COMMENTS.sub("", text).split())
    if bare.upper().startswith(_ALONE):
        return ""
    return _names.get(text) or bare[:50]
