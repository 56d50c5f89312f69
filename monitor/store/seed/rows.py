"""The rows of a made-up history, copied in as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import psycopg

from monitor.store.sql import load

SQL = load(__file__)


def has_messages(cursor: psycopg.Cursor[Any]) -> bool:
    """Whether the inbox holds anything already."""
    return bool(_value(cursor, "has_messages", {}))


def prepare(cursor: psycopg.Cursor[Any], seed: int) -> None:
    """Set this transaction up for writing very much."""
    cursor.execute(SQL["prepare"], {"seed": (seed % 1_000) / 1_000})


def reserve(cursor: psycopg.Cursor[Any], count: int) -> int:
    """The first of so many ids of messages that nobody else gets."""
    return int(_value(cursor, "reserve", {"count": count}))


def copy_lines(cursor: psycopg.Cursor[Any], name: str, lines: Iterable[str]) -> None:
    """Copy lines that are written out as COPY reads them."""
    with cursor.copy(SQL[name]) as copy:
        copy.write("".join(lines))


def copy(cursor: psycopg.Cursor[Any], name: str, rows: Sequence[Sequence[Any]]) -> None:
    """Copy rows of values in the order of the statement's columns."""
    if not rows:
        return
    with cursor.copy(SQL[name]) as open_copy:
        for row in rows:
            open_copy.write_row(row)


def sessions(cursor: psycopg.Cursor[Any], rows: Sequence[tuple[int, int, str, str]]) -> int:
    """Write sessions (id, consumer, key, first time) that are not there; how many were not."""
    ids, consumers, keys, times = ([*column] for column in zip(*rows, strict=True))
    values = {"ids": ids, "consumers": consumers, "keys": keys, "times": times}
    cursor.execute(SQL["sessions"], values)
    return cursor.rowcount


def tidy(cursor: psycopg.Cursor[Any]) -> None:
    """Statistics and visibility of all tables; outside of any transaction."""
    cursor.execute(SQL["tidy"])


def _value(cursor: psycopg.Cursor[Any], name: str, values: dict[str, Any]) -> Any:
    cursor.execute(SQL[name], values)
    row = cursor.fetchone()
    if row is None:
        raise AssertionError(name)
    return row[0]
