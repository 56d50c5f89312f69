"""Empties the inbox's tables of a test database after a test that really committed."""

from __future__ import annotations

from pathlib import Path

from django.db import OperationalError, connection
from psycopg.errors import DeadlockDetected

from monitor import migrations
from monitor.engine import directory
from monitor.store.sql import load

SQL = load(__file__)

_SCHEMA = Path(migrations.__file__).with_name("0001_schema.sql").read_text(encoding="utf-8")
_SEEDS = _SCHEMA[_SCHEMA.index("INSERT INTO comboio_consumer") :]
_TRIES = 5  # a reader that the test left behind, a page's poll, may hold tables in its own order


def empty_inbox() -> None:
    """Truncate every comboio_ table and put the rows of the first migration back.

    Django's own flush knows only tables with models; those of the inbox are plain SQL.
    """
    for tries_left in reversed(range(_TRIES)):
        try:
            _empty()
            break
        except OperationalError as error:
            if not tries_left or not isinstance(error.__cause__, DeadlockDetected):
                raise
    directory.forget()  # the ids it remembers are gone


def _empty() -> None:
    with connection.cursor() as cursor:
        cursor.execute(SQL["tables"])
        tables = cursor.fetchone()[0]
        if tables:
            cursor.execute(f"TRUNCATE {tables} RESTART IDENTITY")
            cursor.execute(_SEEDS)
