"""P13, migration and deploy: one migrator at a time, whole migrations only, and a rerun ends it.

A worker of the code before the last migration is not at hand in the repository. What is shown in
its place: nothing that older statements name goes away, and no table is written anew.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from config.launch import postgres
from monitor.store import connections
from tests.faults import disk
from tests.faults.child import Deed, Strike
from tests.faults.durable import Durable
from tests.faults.migrating import COLUMNS, DIES, DONE, FILES, SCHEMA, STOPS, Databases
from tests.faults.proxy import Mode, Proxy
from tests.waiting import wait_until

WAITS = "Another process migrates this database"
IN_THE_MIDDLE = Strike(
    at="django.db.migrations.operations.special:RunSQL.database_forwards",
    deed=Deed.STOP,
    is_after=True,
)
LOCKED = "A table is locked; attempt 2 of 5 follows."

Rows = list[tuple[str, ...]]


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    made = Databases(os.environ["DATABASE_URL"], tmp_path_factory.mktemp("migrators"))
    made.prepare()
    yield made
    made.close()


@pytest.fixture(scope="module")
def whole(databases: Databases) -> Rows:
    """The schema after a migration that nothing disturbed."""
    name = databases.make()
    assert databases.start(name).answer() == DONE
    return databases.rows(name, SCHEMA)


@pytest.fixture
def database(databases: Databases) -> str:
    """One that lacks the newest migration that changes what is there, and those after it."""
    return databases.make()


def _heals(databases: Databases, database: str, whole: Rows) -> None:
    """Another migrator ends what was left."""
    assert databases.start(database).answer() == DONE
    assert databases.rows(database, SCHEMA) == whole


def _lacks_it(databases: Databases, database: str) -> bool:
    """Whether nothing at all of the missing migrations is there."""
    return databases.rows(database, SCHEMA) == databases.rows(databases.template, SCHEMA)


def _write_to_all(worker: psycopg.Connection[Any]) -> None:
    """As a worker in the middle of a transaction: the locks of one who writes to every table."""
    found = worker.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'comboio%'")
    for (table,) in found.fetchall():
        worker.execute(f"LOCK {table} IN ROW EXCLUSIVE MODE")


def test_p13_k_a_killed_migrator_leaves_whole_migrations_and_is_run_again(
    databases: Databases, database: str, whole: Rows
) -> None:
    databases.start(database, DIES).wait_killed()
    wait_until(lambda: databases.is_quiet(database), what="the dead one's session is gone")
    assert _lacks_it(databases, database)
    _heals(databases, database, whole)


def test_p13_k_what_the_code_before_names_still_stands_and_no_table_is_written_anew(
    databases: Databases, database: str, whole: Rows
) -> None:
    columns = set(databases.rows(database, COLUMNS))
    files = set(databases.rows(database, FILES))
    _heals(databases, database, whole)
    assert columns <= set(databases.rows(database, COLUMNS))
    assert files <= set(databases.rows(database, FILES))


def test_p13_z_a_frozen_migrator_lets_go_of_its_tables_and_cannot_commit_when_it_wakes(
    databases: Databases, database: str, whole: Rows
) -> None:
    frozen = databases.start(database, STOPS, idle_in_transaction_session_timeout="100ms")
    frozen.wait_stopped()
    wait_until(lambda: databases.are_tables_free(database), what="tables that others may use")
    frozen.go_on()
    assert frozen.answer() in {"InternalError", "OperationalError"}
    assert _lacks_it(databases, database)
    _heals(databases, database, whole)


@pytest.mark.parametrize("mode", [Mode.CUT_BEFORE, Mode.CUT_AFTER])
def test_p13_c_a_link_cut_at_the_commit_leaves_all_or_nothing_and_a_rerun_ends_it(
    databases: Databases, database: str, whole: Rows, tmp_path: Path, mode: Mode
) -> None:
    link = Proxy.of_database(tmp_path / "link", databases.host)
    link.mode = mode
    try:
        assert databases.start(database, host=link.host).answer() == "OperationalError"
    finally:
        link.close()
    wait_until(lambda: databases.is_quiet(database), what="the session is gone")
    assert _lacks_it(databases, database) == (mode is Mode.CUT_BEFORE)
    _heals(databases, database, whole)


def test_p13_b_a_server_killed_in_the_middle_keeps_whole_migrations_and_a_rerun_ends_it(
    durable: Durable, tmp_path: Path, whole: Rows
) -> None:
    with connections.connect(autocommit=True) as own:
        own.execute("CREATE DATABASE in_the_middle TEMPLATE template1")
    migrators = Databases(
        postgres.url(Path(connection.settings_dict["HOST"]), "in_the_middle"), tmp_path
    )
    struck = migrators.start("in_the_middle", IN_THE_MIDDLE)
    struck.wait_stopped()
    durable.kill()
    durable.start()
    struck.go_on()
    assert struck.answer() == "OperationalError"
    tables = "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'comboio%'"
    assert migrators.rows("in_the_middle", tables) == [(0,)]
    _heals(migrators, "in_the_middle", whole)
    migrators.close()


def test_p13_q_without_a_broker_the_database_is_prepared_all_the_same(
    databases: Databases, database: str, whole: Rows, tmp_path: Path
) -> None:
    own = {
        "DATABASE_URL": databases.url(database),
        "BROKER_URL": "amqp://guest:guest@127.0.0.1:1//",
        "COMBOIO_DATA": str(tmp_path),
        "COMBOIO_ROLE": "prepare",
    }
    command = [sys.executable, "-m", "config.launch.prepare"]
    done = subprocess.run(command, env={**os.environ, **own}, capture_output=True, check=False)
    assert (done.returncode, b"Password:" in done.stdout) == (0, True), done.stderr[-2000:]
    assert databases.rows(database, SCHEMA) == whole


def test_p13_s_a_full_disk_fails_the_migration_as_a_whole(
    databases: Databases, database: str, whole: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.settings_dict, "NAME", database)
    with disk.full("django_migrations"):
        assert databases.start(database).answer() == "OperationalError"
    assert _lacks_it(databases, database)
    _heals(databases, database, whole)


def test_p13_l_a_locked_table_is_waited_for_briefly_and_tried_again(
    databases: Databases, database: str, whole: Rows
) -> None:
    with databases.connected(database) as worker:
        _write_to_all(worker)
        told = databases.says(LOCKED)
        migrator = databases.start(database, lock_timeout="50ms")
        wait_until(lambda: databases.says(LOCKED) > told, what="a second attempt")
    assert migrator.answer() == DONE
    assert databases.rows(database, SCHEMA) == whole


def test_p13_l_a_table_that_stays_locked_ends_in_a_sentence_and_leaves_nothing_half_done(
    databases: Databases, database: str, whole: Rows
) -> None:
    with databases.connected(database) as worker:
        _write_to_all(worker)
        assert databases.start(database, lock_timeout="20ms").answer() == "LaunchError"
    assert _lacks_it(databases, database)
    _heals(databases, database, whole)


def test_p13_v_of_two_migrators_one_waits_and_finds_it_done(
    databases: Databases, database: str, whole: Rows
) -> None:
    first = databases.start(database, STOPS)
    first.wait_stopped()
    told = databases.says(WAITS)
    second = databases.start(database)
    wait_until(lambda: databases.says(WAITS) > told, what="the second one waits")
    first.go_on()
    assert (first.answer(), second.answer()) == (DONE, DONE)
    assert databases.rows(database, SCHEMA) == whole


def test_p13_v_three_that_start_at_once_make_one_schema_and_one_login(
    databases: Databases, database: str, whole: Rows
) -> None:
    migrators = [databases.start(database) for _ in range(3)]
    assert [each.answer() for each in migrators] == [DONE] * 3
    assert databases.rows(database, SCHEMA) == whole
    assert databases.rows(database, "SELECT count(*) FROM auth_user") == [(1,)]
