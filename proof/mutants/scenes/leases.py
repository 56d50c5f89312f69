"""A holder of a lease is frozen for longer than the lease, and wakes beside its successor."""

from __future__ import annotations

import time
from random import Random

from proof.mutants import sending
from proof.mutants.floor import Floor, ForkedFleet
from proof.mutants.mutant import Scene, without
from proof.nemesis.pauses import Pause
from proof.profiles import Profile

_LONG = 3
_SECONDS = 8.0
_LOOK_SECONDS = 0.02


def _play(floor: Floor) -> None:
    floor.fleet = ForkedFleet(floor.folder, _LONG + 1)  # one is free to take over
    floor.fleet.start()
    sending.send(floor)
    pause = Pause(floor.database_url, Random(floor.seed))  # noqa: S311 - a plan, not a secret
    until = time.monotonic() + _SECONDS
    while sum(bool(each.fence) for each in floor.fleet.entries()) < _LONG:
        if time.monotonic() > until:
            break
        time.sleep(_LOOK_SECONDS)
    floor.struck["pauses"] = int(pause.strike(floor.ground))
    pause.close()
    floor.drain()
    floor.tidy_up()


SCENE = Scene(
    name="leases",
    profile=Profile(
        name="leases",
        messages=2 * _LONG,
        seconds=1,
        senders=1,
        shares={},
        long_runs=_LONG,
        duplicates=0,
        mismatches=0,
        accounts=10,
    ),
    play=_play,
    checks=without(),
)
