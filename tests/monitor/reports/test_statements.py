"""Every statement of the reports fits the migrated database."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.db import connection

from monitor.store import sql

FOLDER = Path(__file__).parents[3] / "monitor" / "reports"
STATEMENTS = [
    (path.stem, name) for path in sorted(FOLDER.glob("*.sql")) for name in sql.load(str(path))
]


@pytest.mark.parametrize(("module", "name"), STATEMENTS)
def test_every_statement_is_one_that_the_database_can_prepare(
    db: None, module: str, name: str
) -> None:
    statement = sql.load(str(FOLDER / module))[name]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement}", dict.fromkeys(_parameters(statement)))
        assert cursor.fetchall()


def test_each_module_with_statements_has_its_file_beside_it() -> None:
    assert {path.stem for path in FOLDER.glob("*.sql")} <= {
        path.stem for path in FOLDER.glob("*.py")
    }


def _parameters(statement: str) -> set[str]:
    return set(re.findall(r"%\((\w+)\)s", statement))
