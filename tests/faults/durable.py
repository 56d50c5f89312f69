"""A PostgreSQL of the fault tests' own that keeps its word, and may be killed for it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import LiteralString

import psycopg
from django.core.management import call_command
from django.db import connection
from psycopg import sql

from config.launch import postgres
from config.launch.postgres import Cluster
from monitor.engine import directory
from tests.waiting import wait_until

_TEMPLATE = "prepared"
_SETTINGS = {"shared_buffers": "16MB", "max_connections": "24", "wal_sync_method": "fdatasync"}


class Durable:
    """The server; each test gets an empty inbox of its own on it."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="comboio-faults-"))
        self._folder.chmod(0o711)  # PostgreSQL may run as another user.
        binaries, data = postgres.find_binaries(), self._folder / "data"
        self._cluster = Cluster(
            binaries=binaries,
            data=data,
            sockets=self._folder / "run",
            account=postgres.choose_account(binaries, data),
            settings=_SETTINGS,
        )
        self._numbers = count(1)
        postgres.initialise(self._cluster)
        self._server = self._start()

    def prepare(self) -> None:
        """Make the inbox that fresh() copies."""
        self._run("CREATE DATABASE {}", _TEMPLATE)
        with self._used(_TEMPLATE):
            call_command("migrate", verbosity=0, interactive=False)

    @contextmanager
    def fresh(self) -> Iterator[None]:
        """Django's connections go to an empty inbox on this server while the block runs."""
        name = f"faults{next(self._numbers)}"
        self._run("CREATE DATABASE {} TEMPLATE prepared STRATEGY file_copy", name)
        with self._used(name):
            yield

    def kill(self) -> None:
        """SIGKILL the server; it stays away until start()."""
        self._server.kill()
        self._server.wait()
        postgres.settle_leftovers(self._cluster.data)
        connection.close()

    def start(self) -> None:
        """Start it again, as its supervisor would; it recovers by itself."""
        self._server = self._start()

    def wait_recovered(self) -> None:
        """After a crash of its own (PANIC): until it takes connections again."""
        connection.close()
        wait_until(self._answers, 20, what="a server that has recovered")

    def close(self) -> None:
        """Stop it and remove its folder."""
        postgres.stop(self._server)
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def _used(self, name: str) -> Iterator[None]:
        settings = connection.settings_dict
        before = {each: settings[each] for each in ("HOST", "PORT", "NAME")}
        connection.close()
        directory.forget()
        settings.update(HOST=str(self._cluster.sockets), PORT="", NAME=name)
        try:
            yield
        finally:
            connection.close()
            directory.forget()
            settings.update(before)

    def _answers(self) -> bool:
        try:
            self._run("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, statement: LiteralString, name: str = "") -> None:
        address = postgres.url(self._cluster.sockets, "postgres")
        with psycopg.connect(address, autocommit=True) as own:
            own.execute(sql.SQL(statement).format(sql.Identifier(name)))

    def _start(self) -> subprocess.Popen[bytes]:
        return postgres.start(self._cluster, output=self._folder / "postgres.log")
