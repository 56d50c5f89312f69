"""The ids of this process's consumers, written down in the database once and remembered."""

from __future__ import annotations

from typing import Any

import psycopg

from monitor.engine import registry
from monitor.store import consumers

_ids: dict[str, int] = {}


def ids(cursor: psycopg.Cursor[Any]) -> dict[str, int]:
    """Id of every declared consumer, by name. Declares those the database does not know yet.

    Only what was found committed is remembered: a rolled-back declaration leaves no id here.
    """
    if is_complete():
        return _ids
    found = consumers.known(cursor)
    if all(each.name in found for each in registry.all_consumers()):
        _ids.update(found)
        return _ids
    return consumers.declare(cursor, registry.all_consumers())


def is_complete() -> bool:
    """Whether the id of every declared consumer is remembered."""
    return all(each.name in _ids for each in registry.all_consumers())


def declare(cursor: psycopg.Cursor[Any]) -> dict[str, int]:
    """Write down every consumer with its policy; at the start of a process, in a transaction."""
    return consumers.declare(cursor, registry.all_consumers())


def forget() -> None:
    """Drop what is remembered (tests, or a database that was replaced)."""
    _ids.clear()
