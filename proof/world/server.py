"""The PostgreSQL server of a run: durable, and killed, filled and put out of time by its faults."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import monotonic

from config.launch import postgres
from config.launch.errors import LaunchError
from config.launch.postgres import Cluster
from proof.world import keeper
from proof.world.disk import SmallDisk
from proof.world.faketime import FakeClock

# fsync, full_page_writes and synchronous_commit are on, as they are by default.
_SETTINGS = {
    "max_connections": "200",
    "shared_buffers": "128MB",
    "max_wal_size": "512MB",
    "wal_recycle": "off",  # a full disk is then felt by the log of changes too
    "recovery_init_sync_method": "syncfs",  # one call, not one for each file
}
_DISK_BYTES = 16 * 1024**3  # sparse: only what is written takes room
_FULL = "No space left on device"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster(Cluster):
    clock: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        return {**Cluster.environment(self), **self.clock}


class Server:
    """One cluster in a folder of its own, from start() to stop(). Any thread may call it."""

    def __init__(
        self, folder: Path, *, log: Path | None = None, disk_bytes: int = _DISK_BYTES
    ) -> None:
        """folder: its own, which is made. log: where its log stays when the folder is gone."""
        folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        self._folder = folder
        self.log = log or folder / "postgres.log"
        self.clock = FakeClock(folder / "clock")
        self.disk = SmallDisk(folder / "disk.image", folder / "disk", disk_bytes)
        self._lock = Lock()
        self._cluster: Cluster | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.restarts = 0

    @property
    def sockets(self) -> Path:
        """The folder of its socket."""
        return self._folder / "run"

    def url(self, name: str) -> str:
        """The address of a database, straight to the server."""
        return postgres.url(self.sockets, name)

    def start(self) -> None:
        """Make the cluster and start it. LaunchError with its log when it does not start."""
        with self._lock:
            keeper.do(self._make)

    def kill(self) -> float:
        """SIGKILL all its processes and start it again; seconds until it accepts connections."""
        with self._lock:
            begun = monotonic()
            self._kill()
            keeper.do(self._restart)
            return monotonic() - begun

    def mend(self) -> bool:
        """Start it again if it ended by itself, as its supervisor would; whether it had to be."""
        with self._lock:
            if self._process is None or self._process.poll() is None:
                return False
            with suppress(LaunchError):  # a full disk: it is tried again
                keeper.do(self._restart)
            return True

    def step_clock(self, seconds: float) -> bool:
        """Move the server's wall clock while it runs. False: not possible, see clock.why_not."""
        if self.clock.why_not:
            return False
        self.clock.step(seconds)
        return True

    def fill_disk(self) -> bool:
        """Take every free block of its disk. False: not possible, see disk.why_not."""
        if self.disk.why_not:
            return False
        keeper.do(self.disk.fill)
        return True

    def free_disk(self) -> None:
        """Give the blocks back; a server that ended meanwhile is started again."""
        self.disk.free()
        self.mend()

    def complaints(self) -> int:
        """How often its log speaks of a full disk."""
        return self.log.read_text(encoding="utf-8", errors="replace").count(_FULL)

    def stop(self) -> None:
        """Stop it, unmount its disk and remove its folder."""
        with self._lock:
            process, self._process = self._process, None
            if process is not None:
                postgres.stop(process)
            keeper.do(self.disk.unmount)
            shutil.rmtree(self._folder, ignore_errors=True)

    def _make(self) -> None:
        self.disk.mount()
        binaries = postgres.find_binaries()
        data = self.disk.place / "data"
        account = postgres.choose_account(binaries, data)
        plain = _Cluster(
            binaries=binaries,
            data=data,
            sockets=self.sockets,
            account=account,
            settings=_SETTINGS,
            clock=self.clock.environment(),
        )
        if account.uid is not None and account.gid is not None:
            os.chown(self.disk.place, account.uid, account.gid)
        postgres.initialise(plain)
        self._cluster = plain
        self._process = postgres.start(plain, output=self.log)

    def _kill(self) -> None:
        process = self._process
        if process is None:
            return
        family = [process.pid, *keeper.children(process.pid)]
        for pid in family:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()

    def _restart(self) -> None:
        assert self._cluster is not None  # noqa: S101 - it was started
        self.restarts += 1
        postgres.settle_leftovers(self._cluster.data)
        self._process = postgres.start(self._cluster, output=self.log)
