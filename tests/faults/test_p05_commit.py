"""P5: the commit of the effects is in flight; whether it happened is unknown."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import pytest

from monitor.worker import parent as parents
from monitor.worker.parent import Parent
from tests.faults import disk, world
from tests.faults.child import COMMIT, Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Stage, terminate, tracing
from tests.faults.jobs import Work, board_in, wake_up
from tests.faults.proxy import Mode
from tests.faults.world import KINDS, SHORT
from tests.racing import race

pytestmark = pytest.mark.django_db(transaction=True)

WRITTEN = "tests.faults.world:written"
STOPS = Strike(at=COMMIT, following=WRITTEN, deed=Deed.STOP)
DIES = Strike(at=COMMIT, following=WRITTEN, deed=Deed.DIE_IN_COMMIT)
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_p05_k_a_kill_with_the_commit_on_its_way_leaves_one_effect(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a")
        stage.start(Work(kind=kind), DIES).wait_killed()
        world.finish()
    world.assert_once("a")


@each_kind
def test_p05_z_a_commit_that_comes_after_a_long_pause_is_refused(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a")
        frozen = stage.start(
            Work(kind=kind, policy=SHORT), STOPS, idle_in_transaction_session_timeout="300ms"
        )
        frozen.wait_stopped()
        world.finish(in_time=True)
        frozen.go_on()
        assert frozen.answer() is False
    world.assert_once("a")


@pytest.mark.parametrize("mode", [Mode.CUT_BEFORE, Mode.CUT_AFTER])
@each_kind
def test_p05_c_a_cut_at_the_commit_leaves_one_effect(stage: Stage, kind: str, mode: Mode) -> None:
    link = stage.link()
    with world.consumer(kind):
        world.deliver("a")
        worker = stage.start(Work(kind=kind), STOPS, link=link)
        worker.wait_stopped()
        link.mode = mode
        worker.go_on()
        worker.answer()
        assert link.struck.is_set()
        world.finish()
    world.assert_once("a")


@pytest.mark.parametrize("mode", [Mode.HOLE_BEFORE, Mode.HOLE_AFTER])
@each_kind
def test_p05_c_a_worker_whose_commit_is_never_answered_keeps_nobody_waiting_and_is_killed(
    stage: Stage, kind: str, mode: Mode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, board = stage.link(), board_in(tmp_path / "board")
    with world.consumer(kind):
        world.deliver("a")
        worker = stage.start(
            Work(kind=kind, board=tmp_path / "board"),
            STOPS,
            link=link,
            idle_in_transaction_session_timeout="300ms",
        )
        worker.wait_stopped()
        link.mode = mode
        worker.go_on()
        assert link.struck.wait(20)
        world.finish()
        assert worker.is_silent()
        (entry,) = board.entries()
        assert (entry.fence, entry.lease_seconds) == (0, 0.0)  # nobody renews for it
        monkeypatch.setattr(parents, "KILL_AFTER_SECONDS", 0.1 - entry.limit_seconds)
        stop = Event()
        watching = Thread(target=Parent(board, lambda: None, stop).watch)
        watching.start()
        worker.wait_killed()
        stop.set()
        watching.join(10)
    world.assert_once("a")


@each_kind
def test_p05_b_a_database_that_dies_at_the_commit_leaves_one_effect(
    durable: Durable, stage: Stage, kind: str
) -> None:
    with world.consumer(kind):
        world.deliver("a")
        worker = stage.start(Work(kind=kind), STOPS)
        worker.wait_stopped()
        durable.kill()
        worker.go_on()
        assert worker.answer() is False
        durable.start()
        world.finish()
    world.assert_once("a")


@each_kind
def test_p05_s_a_disk_that_fills_up_at_the_commit_rolls_back(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a")
        with disk.full("auth_group", at_commit=True):
            assert wake_up() is False
        assert world.effects() == {}
        world.finish()
    world.assert_once("a")


def test_p05_s_a_commit_that_failed_on_the_disk_may_be_there_all_the_same(
    durable: Durable, stage: Stage
) -> None:
    with world.consumer("atomic"):
        world.deliver("a")
        worker = stage.start(Work(), STOPS)
        worker.wait_stopped()
        with tracing("state = 'idle in transaction'", "-e", "inject=fdatasync:error=EIO"):
            worker.go_on()
            assert worker.answer() is False
        durable.wait_recovered()
        assert world.effects() == {"a": 1}  # the worker was told otherwise
        world.finish()
    world.assert_once("a")


@each_kind
def test_p05_l_a_session_that_is_terminated_before_its_commit_is_run_again(
    stage: Stage, kind: str
) -> None:
    with world.consumer(kind):
        world.deliver("a")
        worker = stage.start(Work(kind=kind), STOPS)
        worker.wait_stopped()
        assert terminate("state = 'idle in transaction'") == 1
        worker.go_on()
        assert worker.answer() is False
        world.finish()
    world.assert_once("a")


@each_kind
def test_p05_v_others_wait_for_the_unknown_commit_and_find_it_done(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a")
        first = stage.start(Work(kind=kind), STOPS)
        first.wait_stopped()
        others = [stage.start(Work(kind=kind)) for _ in range(2)]
        assert [each.answer() for each in others] == [False, False]
        receipts = race(*[lambda: world.deliver("a")] * 2)
        assert {each.verdict for each in receipts} == {"duplicate"}
        first.go_on()
        first.answer()
        world.finish()
    world.assert_once("a", duplicates=2)
