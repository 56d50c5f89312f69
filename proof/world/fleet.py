"""The workers of a run: forked from a parent that has all imported, replaced when they die."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from config.launch.bootstrap import ROOT
from config.launch.process import kill_group, spawn
from monitor.worker.board import Entry
from proof.world import keeper
from proof.world.board import FIRST_WORKER, STEWARD, SharedBoard

_STOP_SECONDS = 10.0


class Fleet:
    """Workers that drain as the children of the product's worker do, a steward and a clock.

    The steward renews the leases and watches over the others, as the product's worker does. A
    worker may be killed at any time; a new one is there some hundredths of a second later.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str], workers: int) -> None:
        self.log = folder / "fleet.log"
        self.workers = workers
        self._file = folder / "fleet.board"
        self._environment = {**environment, "COMBOIO_ROLE": "worker"}
        self._process: subprocess.Popen[bytes] | None = None
        self._board = SharedBoard(self._file)

    def start(self) -> None:
        """Start the parent and its children; they are at work a second later."""
        words = ["-m", "proof.world.forks", str(self._file), str(self.workers)]
        self._process = keeper.do(
            lambda: spawn(
                [sys.executable, *words],
                death_signal=signal.SIGKILL,
                environment=self._environment,
                output=self.log,
                folder=ROOT,
            )
        )

    def pids(self) -> list[int]:
        """The workers that were there a moment ago."""
        return [entry.pid for entry in self.entries()]

    def entries(self) -> list[Entry]:
        """What each worker does now; a dead one's stays until its successor begins."""
        return [entry for entry in self._board.entries() if entry.index >= FIRST_WORKER]

    def steward(self) -> int | None:
        """The process that renews the leases; None while there is none."""
        return next((e.pid for e in self._board.entries() if e.index == STEWARD), None)

    def is_running(self) -> bool:
        """Whether the parent lives."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Let every worker finish its batch and end; by force after some seconds."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_SECONDS)
        kill_group(self._process)
        self._process.wait()
        self._process = None
