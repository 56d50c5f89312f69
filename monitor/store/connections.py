"""Opens plain psycopg connections to Django's database, for threads that keep off Django's own.

A Django connection opened in a process that later forks would be shared with its children; these
connections belong to nobody but their caller.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections

Connection = psycopg.Connection[tuple[Any, ...]]

_CONNECT_SECONDS = 5
# What Django adds for itself: its cursor, its adapters (jsonb as text) and its "never prepare".
_DJANGO_ONLY = ("context", "cursor_factory", "prepare_threshold")


def parameters() -> dict[str, Any]:
    """What psycopg.connect needs to reach Django's database; opens nothing.

    Every session setting of DATABASES["default"]["OPTIONS"] is kept, also prepare_threshold if set.
    """
    wrapper = connections[DEFAULT_DB_ALIAS]
    found: dict[str, Any] = wrapper.get_connection_params()
    for name in _DJANGO_ONLY:
        found.pop(name, None)
    options = wrapper.settings_dict.get("OPTIONS") or {}
    if "prepare_threshold" in options:
        found["prepare_threshold"] = options["prepare_threshold"]
    found.setdefault("connect_timeout", _CONNECT_SECONDS)
    return found


def connect(*, autocommit: bool = False, application_name: str = "comboio") -> Connection:
    """A new connection of the caller's own; the caller closes it.

    Raises psycopg.OperationalError when the database is away.
    """
    wanted = {**parameters(), "application_name": application_name}
    return psycopg.connect(**wanted, autocommit=autocommit)


@contextmanager
def deadline(connection: Connection, seconds: float) -> Iterator[None]:
    """Cut the connection's socket when the block takes longer: the block sees OperationalError.

    psycopg has no deadline of its own for a COMMIT whose answer never comes: keepalives and
    tcp_user_timeout do not end that wait, only shutting the socket does.
    """
    timer = Timer(seconds, _shut, (connection,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def discard(connection: Connection) -> None:
    """Close a connection whose transaction is unknown; never waits for the server."""
    _shut(connection)
    with suppress(psycopg.Error):
        connection.close()


def _shut(connection: Connection) -> None:
    # dup: the socket object would close psycopg's own descriptor when it goes away.
    with (
        suppress(psycopg.Error, OSError),
        socket.fromfd(connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as copy,
    ):
        copy.shutdown(socket.SHUT_RDWR)
