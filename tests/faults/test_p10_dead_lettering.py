"""P10: the last attempt of a message has failed, it is on its way to the dead letters."""

from __future__ import annotations

import pytest

from monitor.domain.retry import Retry
from tests.faults import disk, world
from tests.faults.child import COMMIT, Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Stage, holding
from tests.faults.jobs import Work, wake_up
from tests.faults.proxy import Mode
from tests.faults.world import KINDS
from tests.racing import race
from tests.rows import rows

pytestmark = pytest.mark.django_db(transaction=True)

BURIED = "monitor.store.dead_letters:bury"
DIES = Strike(at=BURIED, is_after=True, deed=Deed.DIE)
DIES_IN_COMMIT = Strike(at=COMMIT, following=BURIED, deed=Deed.DIE_IN_COMMIT)
STOPS = Strike(at=COMMIT, following=BURIED, deed=Deed.STOP)
ONCE = (("retry", Retry(limit=1)),)
SHORT = (*ONCE, *world.SHORT)
each_kind = pytest.mark.parametrize("kind", KINDS)


def assert_dead(*, duplicates: int = 0) -> None:
    """One dead letter, after one attempt, and no effect."""
    assert world.effects() == {}
    world.assert_settled("a", state="dead", duplicates=duplicates)
    assert rows("SELECT reason, attempts FROM comboio_dead") == [("poison", 1)]
    assert world.counted("dead", "poison") == 1


@pytest.mark.parametrize("strike", [DIES, DIES_IN_COMMIT], ids=["before", "in the commit"])
@each_kind
def test_p10_k_a_kill_leaves_it_ready_or_dead_never_both_or_none(
    stage: Stage, kind: str, strike: Strike
) -> None:
    with world.consumer(kind, retry=Retry(limit=1)):
        world.deliver("a", fails=True)
        stage.start(Work(kind=kind, policy=ONCE), strike).wait_killed()
        assert world.states()["a"] in (["ready"], ["dead"])
        world.finish()
    assert_dead()


@each_kind
def test_p10_z_who_was_paused_buries_nothing_any_more(stage: Stage, kind: str) -> None:
    with world.consumer(kind, retry=Retry(limit=1)):
        world.deliver("a", fails=True)
        frozen = stage.start(
            Work(kind=kind, policy=SHORT), STOPS, idle_in_transaction_session_timeout="300ms"
        )
        frozen.wait_stopped()
        world.finish(in_time=True)
        frozen.go_on()
        frozen.answer()
    assert_dead()


@pytest.mark.parametrize("mode", [Mode.CUT_BEFORE, Mode.CUT_AFTER])
@each_kind
def test_p10_c_a_cut_at_the_commit_leaves_one_dead_letter(
    stage: Stage, kind: str, mode: Mode
) -> None:
    link = stage.link()
    with world.consumer(kind, retry=Retry(limit=1)):
        world.deliver("a", fails=True)
        worker = stage.start(Work(kind=kind, policy=ONCE), STOPS, link=link)
        worker.wait_stopped()
        link.mode = mode
        worker.go_on()
        worker.answer()
        assert link.struck.is_set()
        world.finish()
    assert_dead()


@each_kind
def test_p10_b_a_database_that_dies_leaves_one_dead_letter(
    durable: Durable, stage: Stage, kind: str
) -> None:
    with world.consumer(kind, retry=Retry(limit=1)):
        world.deliver("a", fails=True)
        worker = stage.start(Work(kind=kind, policy=ONCE), STOPS)
        worker.wait_stopped()
        durable.kill()
        worker.go_on()
        assert worker.answer() is False
        durable.start()
        world.finish()
    assert_dead()


@each_kind
def test_p10_s_a_full_disk_keeps_it_ready_until_there_is_space(stage: Stage, kind: str) -> None:
    with world.consumer(kind, retry=Retry(limit=1)):
        world.deliver("a", fails=True)
        with disk.full("comboio_dead"):
            assert wake_up() is False
            assert world.states() == {"a": ["ready"]}
        world.finish()
    assert_dead()


@each_kind
def test_p10_l_a_busy_lock_keeps_it_ready_and_counts_nothing(stage: Stage, kind: str) -> None:
    with world.consumer(kind, retry=Retry(limit=1)):
        world.deliver("a", fails=True)
        with holding("LOCK TABLE comboio_dead IN SHARE MODE"):
            worker = stage.start(Work(kind=kind, policy=ONCE), lock_timeout="50ms")
            assert worker.answer() is False
        assert world.states() == {"a": ["ready"]}
        world.finish()
    assert_dead()


@each_kind
def test_p10_v_workers_and_twins_at_once_make_one_dead_letter(stage: Stage, kind: str) -> None:
    with world.consumer(kind, retry=Retry(limit=1)):
        world.deliver("a", fails=True)
        first = stage.start(Work(kind=kind, policy=ONCE), STOPS)
        first.wait_stopped()
        assert race(wake_up, wake_up) == [False, False]
        assert world.deliver("a", fails=True).verdict == "duplicate"
        first.go_on()
        first.answer()
        world.finish()
    assert_dead(duplicates=1)
