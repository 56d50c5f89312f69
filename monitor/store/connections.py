"""Plain psycopg on Django's database: a cursor on Django's own connection, or one of the caller's.

A Django connection opened in a process that later forks would be shared with its children; those
of connect() belong to nobody but their caller.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import Any, Protocol
from weakref import WeakSet

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections

Connection = psycopg.Connection[tuple[Any, ...]]

_CONNECT_SECONDS = 5
_PREPARE_AFTER = 2  # runs of a statement before psycopg prepares it on Django's connection
# What Django adds for itself: its cursor, its adapters (jsonb as text) and its "never prepare".
_DJANGO_ONLY = ("context", "cursor_factory", "prepare_threshold")


class Descriptor(Protocol):
    """Anything that holds a file descriptor."""

    def fileno(self) -> int:
        """The descriptor; negative, or an error, once closed."""


_kept: WeakSet[Descriptor] = WeakSet()


def shared_cursor() -> psycopg.Cursor[Any]:
    """A psycopg cursor on Django's connection, inside whatever transaction is open there.

    Django's own cursor binds on the client: it knows neither binary values nor prepared statements,
    and planning the ingest statement anew each time costs more than running it.
    """
    wrapper = connections[DEFAULT_DB_ALIAS]
    wrapper.ensure_connection()
    raw = wrapper.connection
    raw.prepare_threshold = _PREPARE_AFTER
    return psycopg.Cursor(raw)


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
    connection = psycopg.connect(**wanted, autocommit=autocommit)
    keep_from_children(connection)
    return connection


def keep_from_children(thing: Descriptor) -> None:
    """Children forked from now on do not share this socket: it closes when this process dies.

    Else the children of a killed parent would hold its locks and its place at the broker.
    """
    _kept.add(thing)


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


def _part_from_parent() -> None:
    """In a new child: nothing in the place of each kept socket; a shutdown would hit the parent."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for thing in list(_kept):
        with suppress(Exception):
            descriptor = thing.fileno()
            if descriptor >= 0:
                os.dup2(nothing, descriptor, inheritable=False)
    os.close(nothing)
    _kept.clear()


def _shut(connection: Connection) -> None:
    # dup: the socket object would close psycopg's own descriptor when it goes away.
    with (
        suppress(psycopg.Error, OSError),
        socket.fromfd(connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as copy,
    ):
        copy.shutdown(socket.SHUT_RDWR)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_part_from_parent)
