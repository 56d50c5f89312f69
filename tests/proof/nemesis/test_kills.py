"""A kill counts only when its victim held work, and costs the world nothing."""

from __future__ import annotations

import os
import signal
from random import Random
from time import monotonic
from typing import Any

from proof import history
from proof.nemesis.kills import WorkerKill, is_stopped
from tests.proof.world.small import SmallWorld
from tests.waiting import wait_until


def kills(world: SmallWorld) -> list[dict[str, Any]]:
    lines = history.in_time(world.history)
    return [each for each in lines if each.get("fault") == "worker_kills"]


def test_every_kill_hits_a_worker_that_holds_messages_and_no_message_is_lost(
    world: SmallWorld,
) -> None:
    kill = WorkerKill(world.database_url, Random(1))
    before = len(kills(world))
    world.send(200, seconds=0.005)
    world.send(5, kind="outside", seconds=0.05)
    begun, hits = monotonic(), 0
    while hits < 5 and monotonic() - begun < 20:
        hits += kill.strike(world)
    seconds = monotonic() - begun
    kill.close()
    world.drained()
    assert hits == 5, seconds
    told = kills(world)[before:]
    assert len(told) == 5
    assert all(each["held"] or each["leased"] for each in told)
    assert world.accounted() == 205
    assert world.effects() > 185


def test_no_worker_is_killed_that_holds_nothing(world: SmallWorld) -> None:
    wait_until(lambda: len(world.fleet.pids()) == 3, what="workers")
    before = set(world.fleet.pids())
    kill = WorkerKill(world.database_url, Random(1))
    assert not any(kill.strike(world) for _ in range(50))
    kill.close()
    assert set(world.fleet.pids()) == before


def test_a_paused_worker_is_left_to_wake_again(world: SmallWorld) -> None:
    kill, paused = WorkerKill(world.database_url, Random(1)), set(world.fleet.pids())
    world.send(60, seconds=0.02)
    for pid in paused:
        os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: all(is_stopped(pid) for pid in paused), what="paused workers")
    assert not any(kill.strike(world) for _ in range(5))
    for pid in paused:
        os.kill(pid, signal.SIGCONT)
    kill.close()
    world.drained()
    assert set(world.fleet.pids()) >= paused
