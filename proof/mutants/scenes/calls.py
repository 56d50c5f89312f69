"""Calls to a provider that drops answers, made by workers that are killed meanwhile."""

from __future__ import annotations

import os
import time
from random import Random

from examples.provider.faults import Faults
from examples.provider.ledger import Ledger
from examples.provider.server import Provider
from proof.mutants import sending
from proof.mutants.floor import Floor, fork
from proof.mutants.mutant import Scene, without
from proof.nemesis.kills import WorkerKill
from proof.profiles import PROVIDER_URL, Profile
from proof.world import keeper

_KILLS = 8
_PAUSE_SECONDS = 0.1
_SECONDS = 4.0


def _play(floor: Floor) -> None:
    (port,) = keeper.free_ports(1)
    os.environ[PROVIDER_URL] = f"http://127.0.0.1:{port}"
    fork(lambda: _provide(floor, port))
    floor.fleet.start()
    sending.send(floor)
    random = Random(floor.seed)  # noqa: S311 - a plan, not a secret
    kill = WorkerKill(floor.database_url, random)
    until, kills = time.monotonic() + _SECONDS, 0
    while kills < _KILLS and time.monotonic() < until:
        time.sleep(_PAUSE_SECONDS)
        kills += kill.strike(floor.ground)
    kill.close()
    floor.struck["worker_kills"] = kills
    floor.drain()
    floor.tidy_up()


def _provide(floor: Floor, port: int) -> None:
    faults = Faults(
        seed=str(floor.seed), unavailable=0.1, drop=0.15, closed=0.05, slow=0.3, slow_seconds=0.4
    )
    Provider(Ledger(floor.ledger), port=port, faults=faults, closed_seconds=0.5).serve_forever()


SCENE = Scene(
    name="calls",
    profile=Profile(
        name="calls",
        messages=60,
        seconds=2,
        senders=2,
        batch=10,
        shares={"keyed": 0.3, "queryable": 0.3, "neither": 0.3},
        long_runs=0,
        duplicates=0,
        mismatches=0,
    ),
    play=_play,
    checks=without(),
)
