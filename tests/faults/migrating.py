"""Databases before a migration, and the migrators that are struck in the middle of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from django.core.management import call_command
from django.db.migrations.loader import MigrationLoader
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from config.launch import migrating, prepare
from monitor import migrations
from tests.faults.child import Deed, Place, Strike
from tests.faults.injectors import Actor

LAST_APPLIED = "django.db.migrations.recorder:MigrationRecorder.record_applied"
DIES = Strike(at=LAST_APPLIED, deed=Deed.DIE, is_after=True)
STOPS = Strike(at=LAST_APPLIED, deed=Deed.STOP, is_after=True)
DONE = "migrated"

SCHEMA = """
    SELECT table_name, column_name, data_type, is_nullable, column_default
      FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), '', ''
      FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
    UNION ALL SELECT tablename, indexname, indexdef, '', '' FROM pg_indexes
     WHERE schemaname = 'public'
    UNION ALL SELECT app, name, '', '', '' FROM django_migrations
    ORDER BY 1, 2, 3"""
COLUMNS = """
    SELECT table_name, column_name, data_type FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name LIKE 'comboio%'"""
FILES = """
    SELECT relname, relfilenode FROM pg_class
     WHERE relkind = 'r' AND relname LIKE 'comboio%' ORDER BY 1"""

_numbers = count(1)


def names() -> list[str]:
    """The migrations of the inbox, in their order."""
    graph = MigrationLoader(None).graph
    plan = graph.forwards_plan(graph.leaf_nodes("monitor")[0])
    return [name for app, name in plan if app == "monitor"]


def before_a_change() -> str:
    """The last migration before the newest one that changes tables which are there already."""
    found = names()
    newest = next(name for name in reversed(found) if "ALTER TABLE" in _statements(name))
    return found[found.index(newest) - 1]


def _statements(name: str) -> str:
    file = Path(migrations.__file__).with_name(f"{name}.sql")
    return file.read_text(encoding="utf-8") if file.exists() else ""


def migrate_to(name: str) -> str:
    """The job of a migrator that goes no further in the inbox, and to the end in other apps."""
    others = {app for app, _ in MigrationLoader(None).graph.leaf_nodes()} - {"auth", "monitor"}
    for words in (["auth"], *([app] for app in sorted(others)), ["monitor", name]):
        call_command("migrate", *words, verbosity=0, interactive=False)
    return DONE


def migrate(told: Path) -> str:
    """The job of a migrator like that of `up`; what it says goes to the file."""
    migrating._PAUSE_SECONDS = 0.05  # type: ignore[misc]
    migrating._LOOK_SECONDS = 0.01  # type: ignore[misc]
    with told.open("a") as file, contextlib.redirect_stderr(file):
        migrating.in_turn(prepare._migrate)
    return DONE


class Databases:
    """Databases that are made from one in which only the last migration is missing."""

    def __init__(self, address: str, folder: Path) -> None:
        self.told = folder / "told"
        self._address = address
        self.host = str(conninfo_to_dict(address)["host"])
        self._made: list[str] = []
        self._stack = ExitStack()
        self.template = ""

    def prepare(self) -> None:
        """Make the one that the others are made from."""
        self.template = self.make("template1")
        job = partial(migrate_to, before_a_change())
        actor = Actor(Place(host=self.host, name=self.template), (), job)
        assert actor.answer() == DONE
        actor.close()

    def make(self, template: str = "") -> str:
        """A new one, made from the template; its name."""
        name = f"migrating_{os.getpid()}_{next(_numbers)}"
        self._command(f"CREATE DATABASE {name} TEMPLATE {template or self.template}")
        self._made.append(name)
        return name

    def start(
        self, database: str, *strikes: Strike, host: str | None = None, **session: str
    ) -> Actor:
        """A migrator at work on it."""
        place = Place(host=host or self.host, name=database, session=session)
        actor = Actor(place, strikes, partial(migrate, self.told))
        self._stack.callback(actor.close)
        return actor

    def url(self, database: str) -> str:
        """Its address."""
        return make_conninfo(self._address, dbname=database)

    def says(self, text: str) -> int:
        """How often a migrator said so."""
        return self.told.read_text().count(text) if self.told.exists() else 0

    @contextmanager
    def connected(self, database: str) -> Iterator[psycopg.Connection[Any]]:
        """A connection to it, in a transaction."""
        with psycopg.connect(make_conninfo(self._address, dbname=database)) as own:
            yield own

    def rows(self, database: str, query: str) -> list[Any]:
        """What a query finds there."""
        with self.connected(database) as own:
            return own.execute(query).fetchall()

    def is_quiet(self, database: str) -> bool:
        """Whether nobody is connected to it."""
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
        with psycopg.connect(self._server) as own:
            return own.execute(query, [database]).fetchone() == (0,)

    def are_tables_free(self, database: str) -> bool:
        """Whether nobody holds a lock that a reader or writer of a table would wait for."""
        query = """SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND database =
                   (SELECT oid FROM pg_database WHERE datname = %s)
                      AND mode NOT IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')"""
        with psycopg.connect(self._server) as own:
            return own.execute(query, [database]).fetchone() == (0,)

    def close(self) -> None:
        """Remove them all."""
        self._stack.close()
        for name in self._made:
            self._command(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    @property
    def _server(self) -> str:
        return make_conninfo(self._address, dbname="postgres")

    def _command(self, text: str) -> None:
        with psycopg.connect(self._server, autocommit=True) as own:
            own.execute(text)
