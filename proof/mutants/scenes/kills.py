"""Workers that are killed again and again while they work."""

from __future__ import annotations

import time
from random import Random

from proof.mutants import sending
from proof.mutants.floor import Floor, dies_after_commits, wait
from proof.mutants.mutant import Scene, without
from proof.nemesis.kills import WorkerKill
from proof.profiles import Profile

_KILLS = 12
_PAUSE_SECONDS = 0.05
_SECONDS = 8.0
_MOST_SECONDS = 40.0


def _play(floor: Floor) -> None:
    random = Random(floor.seed)  # noqa: S311 - a plan, not a secret
    calm = floor.folder / "calm"
    dies_after_commits(0.3, calm)
    floor.fleet.start()
    senders = sending.begin(floor, pause=0.05)
    kill = WorkerKill(floor.database_url, random)
    until, kills = time.monotonic() + _SECONDS, 0
    while kills < _KILLS and time.monotonic() < until:
        kills += kill.strike(floor.ground)
        time.sleep(_PAUSE_SECONDS)
    kill.close()
    floor.struck["worker_kills"] = kills
    for pid in senders:
        wait(pid, _MOST_SECONDS)
    calm.touch()
    floor.drain()
    floor.tidy_up()


SCENE = Scene(
    name="kills",
    profile=Profile(
        name="kills",
        messages=360,
        seconds=2,
        senders=3,
        batch=10,
        shares={"append": 0.25, "slow": 0.5},
        long_runs=0,
        duplicates=0.1,
        mismatches=0,
        accounts=50,
    ),
    play=_play,
    checks=without(),
)
