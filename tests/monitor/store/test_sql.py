"""Every statement of every .sql file, prepared against the migrated database."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest
from django.db import connection

import monitor
from monitor.store import sql

_FOLDER = Path(monitor.__file__).parent
_PARAMETER = re.compile(r"%\((\w+)\)[sbt]")
_COPY = re.compile(r"COPY (?P<table>\w+) \((?P<columns>[^)]+)\) FROM STDIN$")


def _statements() -> list[tuple[str, str]]:
    found = []
    for path in sorted(_FOLDER.rglob("*.sql")):
        if path.parent.name != "migrations":
            statements = sql.load(str(path))
            where = path.relative_to(_FOLDER).as_posix()
            found += [(f"{where}: {name}", text) for name, text in statements.items()]
    return found


def _positional(text: str) -> str:
    """The statement with $1, $2 … as psycopg would send it."""
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    places: dict[str, str] = {}
    numbered = _PARAMETER.sub(
        lambda match: places.setdefault(match[1], f"${len(places) + 1}"), code
    )
    return numbered.replace("%%", "%").rstrip().rstrip(";")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "text"), [pytest.param(*each, id=each[0]) for each in _statements()]
)
def test_each_statement_fits_the_migrated_database(name: str, text: str) -> None:
    connection.ensure_connection()
    try:
        with psycopg.Cursor(connection.connection) as cursor:
            code = _positional(text)
            if code.lstrip().startswith("SET "):  # cannot be prepared, so it is run
                cursor.execute(code.encode())
                return
            if copied := _COPY.match(code):  # nor can this: that its table has the columns is seen
                code = f"SELECT {copied['columns']} FROM {copied['table']}"
            if code == "VACUUM (ANALYZE)":  # names nothing, and runs outside of any transaction
                return
            cursor.execute(f"PREPARE probe AS {code}".encode(), prepare=False)
            cursor.execute("DEALLOCATE probe")
    except psycopg.Error as error:
        pytest.fail(f"{name}: {error}")


def test_every_sql_file_has_named_statements() -> None:
    names = {name.partition(":")[0] for name, _ in _statements()}
    files = {
        path.relative_to(_FOLDER).as_posix()
        for path in _FOLDER.rglob("*.sql")
        if path.parent.name != "migrations"
    }
    assert names == files
