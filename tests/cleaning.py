"""Empties the inbox's tables after a test that really committed."""

from __future__ import annotations

from pathlib import Path

from django.db import connection

from monitor import migrations
from monitor.engine import directory

# Django's own flush knows only tables with models; ours are plain SQL.
_TABLES = r"""
    SELECT coalesce(string_agg(quote_ident(relname), ', '), '') FROM pg_class
     WHERE relkind IN ('r', 'p') AND relname LIKE 'comboio\_%' AND NOT relispartition
       AND relnamespace = current_schema()::regnamespace
"""
_SCHEMA = Path(migrations.__file__).with_name("0001_schema.sql").read_text(encoding="utf-8")
_SEEDS = _SCHEMA[_SCHEMA.index("INSERT INTO comboio_consumer") :]


def empty_inbox() -> None:
    """Truncate every comboio_ table and put the rows of the first migration back."""
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        tables = cursor.fetchone()[0]
        if tables:
            cursor.execute(f"TRUNCATE {tables} RESTART IDENTITY")
            cursor.execute(_SEEDS)
    directory.forget()  # the ids it remembers are gone
