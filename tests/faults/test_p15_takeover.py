"""P15, takeover of what a dead worker left: one taker, and never over the head of the living."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.activity import IDLE
from tests.engine import drain_all
from tests.faults import disk, world
from tests.faults.child import COMMIT, Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Stage, holding, terminate, waits_for_a_lock
from tests.faults.jobs import Shifted, Work, wake_up
from tests.faults.proxy import Mode
from tests.racing import race
from tests.rows import one
from tests.waiting import wait_until

WORK = Work(kind="external")
TAKEN = "monitor.store.leases:take"
DIES_AT_WORK = Strike(at="tests.faults.world:written", deed=Deed.DIE)
STOPS_IN_IT = Strike(at=TAKEN, deed=Deed.STOP, is_after=True)
STOPS_AFTER_IT = Strike(at="monitor.engine.external:_call", deed=Deed.STOP)
STOPS_AT_THE_END = Strike(at=COMMIT, deed=Deed.STOP, following="monitor.store.leases:end")
OTHER_LANES = """SELECT FROM comboio_lane
    WHERE lane = (SELECT lane FROM comboio_message WHERE key = '{}') FOR UPDATE"""


@pytest.fixture
def consumer(stage: Stage) -> Iterator[None]:
    with world.consumer("external"):
        yield


def leave(stage: Stage, key: str = "a") -> None:
    """A message whose worker died, and whose lease is over."""
    world.deliver(key)
    stage.start(WORK, DIES_AT_WORK).wait_killed()
    world.expire()


def takeovers() -> int:
    return world.counted("leases", "taken over")


@pytest.mark.parametrize(
    ("dies", "takes"),
    [
        (Strike(at=TAKEN, deed=Deed.DIE, is_after=True), {1}),
        (Strike(at=COMMIT, deed=Deed.DIE_IN_COMMIT, following=TAKEN), {1, 2}),
        (DIES_AT_WORK, {2}),
    ],
    ids=["before its commit", "in its commit", "after it"],
)
def test_p15_k_a_taker_that_is_killed_is_followed_by_the_next(
    stage: Stage, consumer: None, dies: Strike, takes: set[int]
) -> None:
    leave(stage)
    stage.start(WORK, dies).wait_killed()
    world.finish()
    world.assert_once("a")
    assert takeovers() in takes


def test_p15_z_a_taker_frozen_in_the_middle_is_passed_by_and_takes_nothing_when_it_wakes(
    stage: Stage, consumer: None
) -> None:
    leave(stage)
    frozen = stage.start(WORK, STOPS_IN_IT, idle_in_transaction_session_timeout="200ms")
    frozen.wait_stopped()
    assert drain_all() == 0  # its lane is held: no waiting
    wait_until(lambda: one(IDLE) == 0, what="the server's patience")
    world.finish()
    frozen.go_on()
    assert frozen.answer() is False
    world.assert_once("a")
    assert takeovers() == 1


def test_p15_z_a_taker_frozen_until_its_own_lease_is_over_finds_another_fence(
    stage: Stage, consumer: None
) -> None:
    leave(stage)
    frozen = stage.start(WORK, STOPS_AFTER_IT)
    frozen.wait_stopped()
    world.finish()
    frozen.go_on()
    frozen.answer()
    world.assert_once("a")
    assert (takeovers(), world.counted("stale_commits")) == (2, 1)


def test_p15_z_a_frozen_taker_that_wakes_beside_its_successor_commits_nothing(
    stage: Stage, consumer: None
) -> None:
    leave(stage)
    frozen = stage.start(WORK, STOPS_AFTER_IT)
    frozen.wait_stopped()
    world.expire()
    successor = stage.start(WORK, STOPS_AFTER_IT)
    successor.wait_stopped()
    frozen.go_on()
    frozen.answer()
    assert (world.effects(), world.counted("stale_commits")) == ({}, 1)
    successor.go_on()
    successor.answer()
    world.assert_once("a")


@pytest.mark.parametrize(("mode", "takes"), [(Mode.CUT_BEFORE, 1), (Mode.CUT_AFTER, 2)])
def test_p15_c_a_takeover_whose_commit_lost_its_link_leaves_a_lease_that_ends(
    stage: Stage, consumer: None, mode: Mode, takes: int
) -> None:
    leave(stage)
    link = stage.link()
    taker = stage.start(WORK, STOPS_IN_IT, link=link)
    taker.wait_stopped()
    link.mode = mode
    taker.go_on()
    assert taker.answer() is False
    assert world.effects() == {}
    world.finish()
    world.assert_once("a")
    assert takeovers() == takes


def test_p15_b_a_database_killed_under_a_taker_gives_the_message_to_the_next(
    durable: Durable, stage: Stage
) -> None:
    with world.consumer("external"):
        leave(stage)
        taker = stage.start(WORK, STOPS_IN_IT)
        taker.wait_stopped()
        durable.kill()
        taker.go_on()
        assert taker.answer() is False
        durable.start()
        world.finish()
    world.assert_once("a")
    assert takeovers() == 1


def test_p15_s_a_full_disk_delays_the_takeover_and_costs_no_attempt(
    stage: Stage, consumer: None
) -> None:
    leave(stage)
    with disk.full("comboio_lease", "UPDATE"):
        assert wake_up() is False
        assert takeovers() == 0
    assert wake_up() is False
    world.assert_once("a")
    assert takeovers() == 1


@pytest.mark.parametrize("hours", [1, -1])
def test_p15_t_the_clock_of_a_taker_decides_neither_too_early_nor_too_late(
    stage: Stage, consumer: None, hours: int
) -> None:
    world.deliver("a")
    stage.start(WORK, DIES_AT_WORK).wait_killed()
    stage.start(Shifted(WORK, hours)).answer()
    assert (takeovers(), world.effects()) == (0, {})
    world.expire()
    stage.start(Shifted(WORK, hours)).answer()
    world.assert_once("a")
    assert takeovers() == 1


def test_p15_l_a_lane_that_is_held_is_passed_by_and_its_message_taken_later(
    stage: Stage, consumer: None
) -> None:
    leave(stage)
    with holding(OTHER_LANES.format("a")):
        world.deliver("b")
        wake_up()
        assert world.effects() == {"b": 1}
    wake_up()
    world.assert_once("a", "b")
    assert takeovers() == 1


def test_p15_l_a_lease_row_that_stays_locked_costs_no_attempt(stage: Stage, consumer: None) -> None:
    leave(stage)
    with holding("SELECT FROM comboio_lease FOR UPDATE"):
        assert stage.start(WORK, lock_timeout="50ms").answer() is False
    assert takeovers() == 0
    wake_up()
    world.assert_once("a")


def test_p15_l_a_taker_whose_session_is_terminated_leaves_it_to_the_next(
    stage: Stage, consumer: None
) -> None:
    leave(stage)
    taker = stage.start(WORK, STOPS_IN_IT)
    taker.wait_stopped()
    assert terminate("state = 'idle in transaction'") == 1
    taker.go_on()
    assert taker.answer() is False
    wake_up()
    world.assert_once("a")
    assert takeovers() == 1


def test_p15_v_a_completion_in_its_commit_wins_over_the_taker_that_waits_for_it(
    stage: Stage,
) -> None:
    with world.consumer("external", lease_seconds=1.0):
        world.deliver("a")
        holder = stage.start(Work(kind="external", policy=world.SHORT), STOPS_AT_THE_END)
        holder.wait_stopped()
        over = "SELECT count(*) FROM comboio_lease WHERE expires_at < clock_timestamp()"
        wait_until(lambda: one(over) == 1, what="the end of its lease")
        taker = stage.start(WORK)
        wait_until(lambda: waits_for_a_lock("comboio"), what="a taker behind the commit")
        holder.go_on()
        holder.answer()
        taker.answer()
        assert drain_all() == 0
    world.assert_once("a")
    assert (takeovers(), world.counted("stale_commits")) == (0, 0)


def test_p15_v_a_takeover_that_comes_first_wins_over_the_completion(
    stage: Stage, consumer: None
) -> None:
    world.deliver("a")
    holder = stage.start(WORK, Strike(at="monitor.store.leases:end", deed=Deed.STOP))
    holder.wait_stopped()
    assert wake_up() is False  # the message's row is his until he commits: nobody waits for it
    world.expire()
    taker = stage.start(WORK)
    wait_until(lambda: waits_for_a_lock("comboio"), what="a taker behind the holder's writes")
    holder.go_on()
    holder.answer()
    taker.answer()
    world.finish()
    world.assert_once("a")
    assert (takeovers(), world.counted("stale_commits")) == (1, 1)


def test_p15_v_of_takers_at_the_same_moment_each_message_has_one(
    stage: Stage, consumer: None
) -> None:
    keys = [f"k{n}" for n in range(4)]
    for key in keys:
        world.deliver(key)
    for _ in keys:
        stage.start(WORK, DIES_AT_WORK).wait_killed()
    assert one("SELECT count(*) FROM comboio_lease") == len(keys)
    world.expire()
    assert sum(race(*[drain_all] * 3)) == len(keys)
    world.assert_once(*keys)
    assert takeovers() == len(keys)
