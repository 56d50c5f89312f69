"""Refuses a database that could forget what it committed, warns of one that commits late."""

from __future__ import annotations

import os
from dataclasses import dataclass

import structlog
from django.db import connection

from monitor.domain.errors import ConfigurationError
from monitor.store.sql import Cursor, load

SQL = load(__file__)

OLDEST_VERSION = 15
UNSAFE_VARIABLE = "COMBOIO_UNSAFE_DATABASE"  # "1": a test server, whose data may be lost
REFUSED = ("fsync", "full_page_writes")  # off: a commit may be gone, or its page torn
WARNED = "synchronous_commit"  # off: the commits of the last moments may be gone

_log = structlog.get_logger("comboio")


@dataclass(frozen=True, slots=True, kw_only=True)
class Durability:
    """What this session's server does about commits. off: which of the three settings are off."""

    version: int  # major
    off: tuple[str, ...]

    @property
    def refused(self) -> tuple[str, ...]:
        """The settings that are off and must not be."""
        return tuple(name for name in self.off if name in REFUSED)

    @property
    def is_late(self) -> bool:
        """Whether a commit is told before it is on the disk."""
        return WARNED in self.off

    @property
    def is_old(self) -> bool:
        """Whether the server is older than what the product needs."""
        return self.version < OLDEST_VERSION


def durability(cursor: Cursor) -> Durability:
    """How the database of this cursor keeps what it commits."""
    cursor.execute(SQL["settings"])
    row = cursor.fetchone()
    assert row is not None  # noqa: S101 - settings always answer
    version, *values = row
    names = (*REFUSED, WARNED)
    off = tuple(name for name, value in zip(names, values, strict=True) if value == "off")
    return Durability(version=version // 10_000, off=off)


def faults(found: Durability) -> list[str]:
    """What must not be so, each with the change to make; [] may be used."""
    texts = [
        f"PostgreSQL runs with {name} = off, so a message that was accepted could be lost. "
        f"Set {name} = on in postgresql.conf."
        for name in found.refused
    ]
    if found.is_old:
        texts.insert(
            0,
            f"This is PostgreSQL {found.version}; version {OLDEST_VERSION} or later is needed. "
            "Upgrade the server.",
        )
    return texts


def warnings(found: Durability) -> list[str]:
    """What may be so but costs something, each with the change to make."""
    if not found.is_late:
        return []
    return [
        f"PostgreSQL runs with {WARNED} = off: what was accepted or done in the last second "
        f"before a crash of the server could be lost. Set {WARNED} = on in postgresql.conf, or "
        "for the role or database that has it off."
    ]


def is_unsafe_admitted() -> bool:
    """Whether the environment says that this database's data may be lost."""
    return os.environ.get(UNSAFE_VARIABLE) == "1"


def require_safe_database() -> None:
    """Raise ConfigurationError when Django's database is too old or may forget what it committed.

    For the start of web, worker and receiver. COMBOIO_UNSAFE_DATABASE=1 admits it; what is admitted
    and what is only warned of goes to the log.
    """
    with connection.cursor() as cursor:
        found = durability(cursor)
    texts = faults(found)
    if texts and not is_unsafe_admitted():
        raise ConfigurationError(" ".join(texts))
    for text in (*texts, *warnings(found)):
        _log.warning("database may lose commits", text=text)
