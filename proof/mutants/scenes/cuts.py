"""Connections that are cut at their COMMIT, so that nobody knows what became of it."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from random import Random

from django.db import connection

from config.launch.bootstrap import ROOT
from config.launch.process import spawn
from proof import history
from proof.mutants import sending
from proof.mutants.floor import Floor, wait
from proof.mutants.mutant import Scene, without
from proof.nemesis.cuts import CommitCut
from proof.profiles import Profile
from proof.world import keeper
from proof.world.proxy import SOCKET, CommitProxy, Cut

_CUTS = 24
_MOST_SECONDS = 6.0
_SECONDS = 20.0


class _Proxy(CommitProxy):
    """The proxy of the proof, started by this process itself: a fork has no keeper."""

    def start(self) -> None:
        """Start it; returns when it listens."""
        self._orders.touch()
        self._process = spawn(
            [sys.executable, "-m", "proof.world.cutter", str(self.sockets), str(self._server)],
            death_signal=signal.SIGKILL,
            environment={"PATH": "/usr/bin:/bin", history.FOLDER: str(self._history)},
            output=self.sockets / "log",
            folder=ROOT,
        )
        keeper.wait_until((self.sockets / SOCKET).exists, what="the proxy")


def _play(floor: Floor) -> None:
    proxy = _Proxy(floor.folder / "proxy", floor.sockets, Path(os.environ[history.FOLDER]))
    floor.proxy = proxy
    proxy.start()
    connection.settings_dict["HOST"] = str(proxy.sockets)
    try:
        floor.fleet.start()
        senders = sending.begin(floor, pause=0.05)
        _cut(floor, proxy)
        for pid in senders:
            wait(pid, _SECONDS)
        floor.drain()
        floor.tidy_up()
    finally:
        connection.close()
        proxy.stop()


def _cut(floor: Floor, proxy: CommitProxy) -> None:
    random = Random(floor.seed)  # noqa: S311 - a plan, not a secret
    cut = CommitCut(random, (Cut.BEFORE, Cut.RACE, Cut.AFTER))
    until = time.monotonic() + _MOST_SECONDS
    while len(proxy.cuts()) < _CUTS and time.monotonic() < until:
        cut.strike(floor.ground)
    proxy.disarm()
    floor.struck["commits_cut"] = len(proxy.cuts())


SCENE = Scene(
    name="cuts",
    profile=Profile(
        name="cuts",
        messages=450,
        seconds=2,
        senders=3,
        batch=6,
        shares={"append": 0.4},
        long_runs=0,
        duplicates=0.2,
        mismatches=0,
        accounts=50,
    ),
    play=_play,
    checks=without(),
)
