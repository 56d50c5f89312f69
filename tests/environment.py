"""The environment of the test run: where its throw-away PostgreSQL lives, and its clean-up."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from config.launch import postgres
from config.launch.postgres import Cluster

PREFIX = "comboio-test-"
# Nothing of a test database must survive a power cut, so nothing waits for the disk.
UNSAFE = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "autovacuum_naptime": "10min",
}


class Server:
    """The PostgreSQL server of one test run, in a folder that goes with it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.folder.chmod(0o711)  # The server may run as another user.
        self._lock = (self.folder / "lock").open("wb")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def sockets(self) -> Path:
        return self.folder / "run"

    def start(self) -> None:
        """Make and start the server; clears the folders that killed test runs left behind."""
        _clear_abandoned()
        override = os.environ.get("COMBOIO_TEST_PG_BIN")
        binaries = Path(override) if override else postgres.find_binaries()
        data = self.folder / "data"
        cluster = Cluster(
            binaries=binaries,
            data=data,
            sockets=self.sockets,
            account=postgres.choose_account(binaries, data),
            settings=UNSAFE,
        )
        postgres.initialise(cluster, is_durable=False)
        self._process = postgres.start(cluster, output=self.folder / "postgres.log")

    def stop(self) -> None:
        """Stop the server and remove its folder."""
        if self._process is not None:
            postgres.stop(self._process)
        shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.close()

    def export(self) -> None:
        """Put the settings of the test run into the environment, for us and for every child."""
        os.environ.update(
            DJANGO_SETTINGS_MODULE="tests.settings",
            DATABASE_URL=postgres.url(self.sockets, "comboio"),
            BROKER_URL="memory://",
            COMBOIO_UNSAFE_DATABASE="1",
            COMBOIO_ROLE="test",
        )


def _clear_abandoned() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            with (folder / "lock").open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # In use by another run, being made, or somebody else's.
