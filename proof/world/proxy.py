"""A proxy in front of PostgreSQL that cuts the connection at a COMMIT, when told to."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from config.launch.bootstrap import ROOT
from config.launch.process import spawn
from proof import history
from proof.world import keeper

SOCKET = ".s.PGSQL.5432"
DISARM = "disarm"


class Cut(StrEnum):
    """Where the connection is cut. After all but the first the server has the COMMIT."""

    BEFORE = "before"  # the COMMIT never reaches the server
    RACE = "race"  # the client is cut off while the server commits
    AFTER = "after"  # the server's answer is swallowed, and the connection cut
    HANG = "hang"  # the answer is swallowed, and the connection stays open without a word


class CommitProxy:
    """The proxy's process. Clients connect through `sockets`, as if the server stood there."""

    def __init__(self, folder: Path, server: Path, history_folder: Path) -> None:
        self.sockets = folder
        folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        self._server = server / SOCKET
        self._told = folder / "cuts"
        self._orders = folder / "orders"
        self._history = history_folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; returns when it listens."""
        self._orders.touch()
        words = [str(self.sockets), str(self._server)]
        self._process = keeper.do(
            lambda: spawn(
                [sys.executable, "-m", "proof.world.cutter", *words],
                death_signal=signal.SIGKILL,
                environment={"PATH": "/usr/bin:/bin", history.FOLDER: str(self._history)},
                output=self.sockets / "log",
                folder=ROOT,
            )
        )
        keeper.wait_until((self.sockets / SOCKET).exists, what="the proxy")

    def arm(self, kind: Cut) -> None:
        """Cut the next COMMIT that ends a transaction which wrote rows."""
        self._order(kind)

    def disarm(self) -> None:
        """Forget what was ordered and not done. A connection that hangs stays as it is."""
        self._order(DISARM)

    def _order(self, word: str) -> None:
        with self._orders.open("ab") as file:
            file.write(word.encode() + b"\n")
        if self._process is not None:
            self._process.send_signal(signal.SIGUSR1)

    def cuts(self) -> list[dict[str, Any]]:
        """The cuts so far: kind, whether the server committed (None: not known), and when."""
        return [line for line in self._lines() if line["event"] == "cut"]

    def freed(self) -> list[dict[str, Any]]:
        """The hung clients that let go by themselves or were killed, each with its seconds."""
        return [line for line in self._lines() if line["event"] == "freed"]

    def counts(self) -> Counter[str]:
        """How many cuts of each kind."""
        return Counter(line["kind"] for line in self.cuts())

    def stop(self) -> None:
        """Stop it; every connection through it is cut."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _lines(self) -> Iterator[dict[str, Any]]:
        with suppress(FileNotFoundError):
            for line in self._told.read_bytes().splitlines(keepends=True):
                if line.endswith(b"\n"):
                    yield orjson.loads(line)
