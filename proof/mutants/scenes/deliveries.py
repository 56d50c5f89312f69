"""Deliveries that come twice at the same moment, come later again, or with another payload."""

from __future__ import annotations

from proof.mutants import sending
from proof.mutants.floor import Floor
from proof.mutants.mutant import Scene, without
from proof.profiles import Profile


def _play(floor: Floor) -> None:
    floor.fleet.start()
    sending.send(floor)
    floor.drain()
    floor.tidy_up()


SCENE = Scene(
    name="deliveries",
    profile=Profile(
        name="deliveries",
        messages=480,
        seconds=1,
        senders=3,
        batch=12,
        shares={"append": 0.2},
        long_runs=0,
        duplicates=0.5,
        mismatches=0.1,
        accounts=50,
    ),
    play=_play,
    checks=without(),
)
