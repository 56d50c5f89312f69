"""Refuses a database that could forget what it has committed."""

from __future__ import annotations

import os

from django.db import connection

from monitor.domain.errors import ConfigurationError
from monitor.store.sql import Cursor, load

SQL = load(__file__)

OLDEST_VERSION = 15
UNSAFE_VARIABLE = "COMBOIO_UNSAFE_DATABASE"  # "1": a test server, whose data may be lost

_SETTINGS = ("fsync", "full_page_writes", "synchronous_commit")


def faults(cursor: Cursor) -> list[str]:
    """What is wrong with the database of this cursor, each with the change to make; [] is safe."""
    cursor.execute(SQL["settings"])
    row = cursor.fetchone()
    assert row is not None  # noqa: S101 - settings always answer
    version, *values = row
    found = [
        f"PostgreSQL runs with {name} = off, so a message that was accepted could be lost. "
        f"Set {name} = on in postgresql.conf."
        for name, value in zip(_SETTINGS, values, strict=True)
        if value == "off"
    ]
    if version // 10_000 < OLDEST_VERSION:
        found.insert(
            0,
            f"This is PostgreSQL {version // 10_000}; version {OLDEST_VERSION} or later is needed. "
            "Upgrade the server.",
        )
    return found


def is_unsafe_admitted() -> bool:
    """Whether the environment says that this database's data may be lost."""
    return os.environ.get(UNSAFE_VARIABLE) == "1"


def require_safe_database() -> None:
    """Raise ConfigurationError when Django's database is too old or may forget what it committed.

    For the start of web, worker and receiver. Settings are admitted with COMBOIO_UNSAFE_DATABASE=1.
    """
    with connection.cursor() as cursor:
        found = faults(cursor)
    if found and not is_unsafe_admitted():
        raise ConfigurationError(" ".join(found))
