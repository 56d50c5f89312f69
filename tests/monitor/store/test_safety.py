"""A database that could forget is refused, one that commits late is warned of, in words."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config.launch import postgres
from config.launch.postgres import Cluster
from monitor.domain.errors import ConfigurationError
from monitor.store import safety
from monitor.store.safety import Durability
from tests.rows import run

ROOT = Path(__file__).parents[3]
STARTS = {
    "web": "import config.wsgi",
    "worker": "import django; django.setup(); import config.celery as c; c._check_database()",
    "receiver": "from config.launch import guard; guard.main()",
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server whose settings this module may change."""
    folder = Path(tempfile.mkdtemp(prefix="comboio-safety-"))
    folder.chmod(0o711)  # PostgreSQL may run as another user.
    binaries, data = postgres.find_binaries(), folder / "data"
    cluster = Cluster(
        binaries=binaries,
        data=data,
        sockets=folder / "run",
        account=postgres.choose_account(binaries, data),
    )
    postgres.initialise(cluster, is_durable=False)
    process = postgres.start(cluster, output=folder / "log")
    yield postgres.url(cluster.sockets, "postgres")
    postgres.stop(process)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def late(server: str) -> Iterator[str]:
    """The same server, for a role that has synchronous_commit off."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("ALTER ROLE comboio SET synchronous_commit = off")
        yield server
        connection.execute("ALTER ROLE comboio RESET synchronous_commit")


def _durability(url: str) -> Durability:
    with psycopg.connect(url) as connection:
        return safety.durability(connection.cursor())


def test_a_durable_database_has_nothing_to_say(server: str) -> None:
    found = _durability(server)
    assert (safety.faults(found), safety.warnings(found)) == ([], [])


@pytest.mark.parametrize("name", ["fsync", "full_page_writes"])
def test_each_setting_that_can_lose_a_commit_is_named_with_its_change(
    server: str, name: str
) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET {name} = off")
        connection.execute("SELECT pg_reload_conf()")
        try:
            # A session reads the configuration anew when its next statement comes.
            while not safety.durability(connection.cursor()).off:
                continue
            (fault,) = safety.faults(_durability(server))
        finally:
            connection.execute(f"ALTER SYSTEM RESET {name}")
            connection.execute("SELECT pg_reload_conf()")
            while safety.durability(connection.cursor()).off:
                continue
    assert f"runs with {name} = off" in fault
    assert f"Set {name} = on" in fault


def test_a_role_that_commits_late_is_warned_of_and_not_refused(late: str) -> None:
    found = _durability(late)
    assert safety.faults(found) == []
    (text,) = safety.warnings(found)
    assert "synchronous_commit = off" in text
    assert "for the role" in text


@pytest.mark.parametrize("process", list(STARTS))
def test_each_process_logs_that_its_commits_are_late_and_goes_on(late: str, process: str) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": "k" * 50,
        "DATABASE_URL": late,
        "COMBOIO_SECRET_PAYMENTS": "p" * 32,
    }
    done = subprocess.run(
        [sys.executable, "-c", STARTS[process]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "synchronous_commit = off" in done.stderr


def test_an_old_server_is_named() -> None:
    (fault,) = safety.faults(Durability(version=14, off=()))
    assert "PostgreSQL 14; version 15 or later" in fault


@pytest.mark.django_db
def test_the_test_server_is_refused_without_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(safety.UNSAFE_VARIABLE)
    with pytest.raises(ConfigurationError, match="fsync = off"):
        safety.require_safe_database()


@pytest.mark.django_db
def test_the_test_server_is_admitted_with_its_variable() -> None:
    run("SET LOCAL synchronous_commit = on")
    safety.require_safe_database()
