"""A small world for tests: a server, a prepared database, and workers with one consumer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson
import psycopg

from config.launch import postgres
from monitor.domain.message import Delivery
from monitor.engine import ingest
from proof.world.fleet import Fleet
from proof.world.proxy import CommitProxy
from proof.world.server import Server
from tests.proof.world import counting
from tests.proof.world.folders import open_folder
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
_OF_THE_TEST_RUN = ("COMBOIO_UNSAFE_DATABASE", "COMBOIO_TEST_REQUIRE_ALL")


class SmallWorld:
    """What a fault needs: server, proxy, fleet, and the addresses of the database."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.history = folder / "history"
        self.history.mkdir()
        (folder / "comboio.toml").write_text("")
        self.server = Server(folder / "pg", disk_bytes=600 * 1024**2)
        self._first = 0
        self.broker: None = None
        self.celery: None = None
        self.database_url = self.server.url("comboio")
        self.proxy = CommitProxy(folder / "proxy", self.server.sockets, self.history)
        self.environment = {
            **{name: v for name, v in os.environ.items() if name not in _OF_THE_TEST_RUN},
            "DJANGO_SETTINGS_MODULE": "tests.proof.world.settings",
            "SECRET_KEY": "only-for-this-world-" + "0123456789" * 4,
            "DATABASE_URL": postgres.url(self.proxy.sockets, "comboio"),
            "BROKER_URL": "memory://",
            "COMBOIO_CONFIG": str(folder / "comboio.toml"),
            "COMBOIO_DATA": str(folder),
            "PROOF_HISTORY": str(self.history),
        }
        self.fleet = Fleet(folder, self.environment, workers)

    def start(self) -> None:
        self.server.start()
        self.proxy.start()
        self._prepare()
        self.fleet.start()

    def send(self, count: int, *, kind: str = "inside", **payload: Any) -> None:
        """Put messages into the inbox, straight to the server."""
        deliveries = [
            Delivery(
                source="count",
                origin="count",
                key=f"{kind}-{n}",
                type=kind,
                payload=orjson.dumps(payload),
            )
            for n in range(self._first, self._first + count)
        ]
        with counting.declared(), psycopg.connect(self.database_url) as connection:
            ingest.accept(connection.cursor(), deliveries)

    def number(self, query: str) -> int:
        """The one number that a query finds."""
        with psycopg.connect(self.database_url, connect_timeout=5) as connection:
            row = connection.execute(query).fetchone()
            assert row is not None
            return int(row[0])

    def fresh(self) -> Path:
        """From here on only messages and effects of this test are counted."""
        self._first += 100_000
        return self.history

    def effects(self) -> int:
        """The rows that handlers of this test left."""
        return self.number(
            "SELECT count(*) FROM auth_group WHERE name LIKE '%side-%' "
            f"AND split_part(name, '-', 2)::int >= {self._first}"
        )

    def accounted(self) -> int:
        """Effects, and messages in the dead letters: bad luck may blame one for its neighbours."""
        return self.effects() + self.number(
            "SELECT count(*) FROM comboio_dead JOIN comboio_message USING (id) "
            f"WHERE split_part(key, '-', 2)::int >= {self._first}"
        )

    def drained(self, seconds: float = 40) -> None:
        """Wait until nothing is left, however often the server is away meanwhile."""

        def is_empty() -> bool:
            self.server.mend()
            with suppress(psycopg.OperationalError):
                return self.number("SELECT count(*) FROM comboio_ready") == 0
            return False

        wait_until(is_empty, seconds, what="an empty queue")

    def stop(self) -> None:
        self.fleet.stop()
        self.proxy.stop()
        self.server.stop()

    def _prepare(self) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "config.launch.prepare"],
            env={
                **self.environment,
                "COMBOIO_ROLE": "prepare",
                "DATABASE_URL": self.database_url,
            },
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def small_world(workers: int = 3) -> Iterator[SmallWorld]:
    with open_folder() as folder:
        world = SmallWorld(folder, workers)
        try:
            world.start()
            yield world
        finally:
            world.stop()
