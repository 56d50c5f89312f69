"""Each fault really hits, is told, and leaves nothing broken behind."""

from __future__ import annotations

from random import Random

import pytest

from proof import history
from proof.nemesis.clocks import ClockStep
from proof.nemesis.cuts import CommitCut
from proof.nemesis.databases import DatabaseKill
from proof.nemesis.disks import DiskFull
from proof.nemesis.pauses import Pause
from proof.nemesis.schedule import Nemesis
from proof.world.proxy import Cut
from tests.proof.world.small import SmallWorld
from tests.waiting import wait_until


def told(world: SmallWorld, fault: str) -> int:
    lines = history.read(world.history)
    return sum(each["event"] == "nemesis" and each["fault"] == fault for each in lines)


def test_a_database_that_is_killed_comes_back_and_all_take_effect_once(world: SmallWorld) -> None:
    world.send(60, seconds=0.01)
    before = told(world, "postgres_kills")
    assert DatabaseKill().strike(world)
    assert told(world, "postgres_kills") == before + 1
    world.drained()
    assert world.effects() == 60


def test_a_worker_that_slept_longer_than_its_lease_commits_nothing_twice(
    world: SmallWorld,
) -> None:
    pause = Pause(world.database_url, Random(2))
    world.send(12, kind="outside", seconds=0.4)
    wait_until(lambda: pause.strike(world), 30, what="a pause")
    pause.close()
    world.drained()
    assert told(world, "pauses")
    assert world.effects() == 12


@pytest.mark.parametrize("kind", [Cut.BEFORE, Cut.AFTER, Cut.RACE])
def test_a_cut_commit_is_done_once(world: SmallWorld, kind: Cut) -> None:
    cut = CommitCut(Random(3), (kind,))
    world.send(60, seconds=0.002)
    hits = sum(cut.strike(world) for _ in range(2))
    world.drained()
    assert hits
    assert told(world, "commits_cut")
    assert world.effects() == 60


def test_steps_of_the_clock_break_nothing(world: SmallWorld) -> None:
    if world.server.clock.why_not:
        pytest.skip(world.server.clock.why_not)
    world.send(40, seconds=0.01)
    world.send(4, kind="outside", seconds=0.2)
    assert ClockStep().strike(world)
    world.drained()
    assert world.effects() == 44


def test_a_full_disk_is_survived(world: SmallWorld) -> None:
    if world.server.disk.why_not:
        pytest.skip(world.server.disk.why_not)
    world.send(500, seconds=0.001, text="x" * 2000)
    assert DiskFull().strike(world)
    world.drained()
    assert world.accounted() == 500
    assert world.effects() > 450


def test_a_database_without_room_is_not_killed_for_it_could_not_come_back(
    world: SmallWorld,
) -> None:
    if not world.server.fill_disk():
        pytest.skip(world.server.disk.why_not)
    before = told(world, "postgres_kills")
    try:
        assert not DatabaseKill().strike(world)
        assert told(world, "postgres_kills") == before
    finally:
        world.server.free_disk()
    assert DatabaseKill().strike(world)


def test_the_schedule_reaches_its_targets_while_there_is_work(world: SmallWorld) -> None:
    targets = {"worker_kills": 4, "postgres_kills": 1, "commits_cut": 2, "messages": 9}
    nemesis = Nemesis(world, targets, seconds=1.5, seed=7)
    world.send(250, seconds=0.02)
    nemesis.start()
    wait_until(lambda: not nemesis.missing(), 40, what="all targets")
    nemesis.stop()
    assert nemesis.report() == {"worker_kills": 4, "postgres_kills": 1, "commits_cut": 2}
    world.drained()
    assert world.accounted() == 250
    assert world.effects() > 225
