"""The fleet drains as the product's worker does, and replaces whoever is killed."""

from __future__ import annotations

import os
import signal

from tests.proof.world.small import SmallWorld
from tests.waiting import wait_until


def test_no_message_is_lost_although_workers_are_killed(world: SmallWorld) -> None:
    world.send(100, kind="inside", seconds=0.005)
    wait_until(lambda: len(world.fleet.pids()) == 3, 30, what="workers")
    killed: set[int] = set()
    for _ in range(6):
        victims = wait_until(lambda: set(world.fleet.pids()) - killed, 10, what="a new worker")
        victim = victims.pop()
        os.kill(victim, signal.SIGKILL)
        killed.add(victim)
    world.drained()
    assert world.accounted() == 100
    assert world.effects() > 80
