"""Makes a database ready for the product, in one process: tables, static files, first login."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

import django
import psycopg
from django.core.management import CommandError, call_command
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import DuplicateDatabase, UniqueViolation

from config.environment import EnvironmentVariableError
from config.launch import login, migrating
from config.launch.errors import LaunchError
from monitor.domain.errors import ConfigurationError
from monitor.store.safety import require_safe_database


def main() -> int:
    """Prepare what DATABASE_URL names; prints the first login when it made one."""
    url = os.environ["DATABASE_URL"]
    try:
        _create_database(url)
        django.setup()
        require_safe_database()
        # Errors only: a warning, about a source that nobody reads say, must not stop a start.
        call_command("check", fail_level="ERROR", stdout=io.StringIO(), stderr=io.StringIO())
    except (
        psycopg.OperationalError,
        EnvironmentVariableError,
        ConfigurationError,
        CommandError,
    ) as error:
        print(error)  # noqa: T201
        return 1
    words: list[str] = []
    try:
        migrating.in_turn(lambda: words.append(_migrate()))
    except LaunchError as error:
        print(error)  # noqa: T201
        return error.status
    # Says what it copied, also at verbosity 0, when a file comes twice.
    call_command("collectstatic", verbosity=0, interactive=False, stdout=io.StringIO())
    if words[-1]:
        print(words[-1])  # noqa: T201
    return 0


def _migrate() -> str:
    """Tables and the first login; the words that show it, or "" when there was one."""
    call_command("migrate", verbosity=0, interactive=False)
    return login.create_first()


def _create_database(url: str) -> None:
    """Create the database when the server has none of that name."""
    try:
        psycopg.connect(url, connect_timeout=10).close()
    except psycopg.OperationalError:
        name = str(conninfo_to_dict(url).get("dbname"))
        with psycopg.connect(make_conninfo(url, dbname="postgres"), autocommit=True) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
            if found.fetchone() is None:
                with suppress(DuplicateDatabase, UniqueViolation):  # another process, just now
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


if __name__ == "__main__":
    sys.exit(main())
