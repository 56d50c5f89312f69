"""Plain statements for tests, on Django's connection in the caller's transaction."""

from __future__ import annotations

from typing import Any

from django.db import connection


def one(statement: str, **values: Any) -> Any:
    """The only value of a statement that gives one row."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()[0]


def rows(statement: str, **values: Any) -> list[tuple[Any, ...]]:
    """All rows of a statement; bytea as bytes."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [
            tuple(bytes(v) if isinstance(v, memoryview) else v for v in row)
            for row in cursor.fetchall()
        ]


def run(statement: str, **values: Any) -> int:
    """Run a statement; how many rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def insert(table: str, *, returning: str = "id", **columns: Any) -> Any:
    """Insert one row; the value of that column."""
    names, marks = ", ".join(columns), ", ".join(f"%({name})s" for name in columns)
    return one(f"INSERT INTO {table} ({names}) VALUES ({marks}) RETURNING {returning}", **columns)


def forget_statistics() -> None:
    """As if no table of the inbox was ever analysed, until the caller's transaction rolls back.

    ANALYZE writes the size of a table outside any transaction: an earlier test's stays.
    """
    tables = "SELECT oid FROM pg_class WHERE relname LIKE 'comboio%%'"
    run(f"UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid IN ({tables})")
    run(f"DELETE FROM pg_statistic WHERE starelid IN ({tables})")
