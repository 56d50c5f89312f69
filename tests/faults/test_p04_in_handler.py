"""P4: in the handler, its effect written, before the commit."""

from __future__ import annotations

import pytest

from tests.faults import broker, disk, world
from tests.faults.child import Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Stage, holding, taking_every_slot, terminate, waits_for_a_lock
from tests.faults.jobs import Shifted, Work, wake_up
from tests.faults.world import KINDS, SHORT
from tests.rabbitmq import Queue
from tests.racing import race
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

WRITTEN = "tests.faults.world:written"
DIES = Strike(at=WRITTEN, deed=Deed.DIE)
STOPS = Strike(at=WRITTEN, deed=Deed.STOP)
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_p04_k_kill_in_the_handler_rolls_back_and_runs_again(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a")
        stage.start(Work(kind=kind, policy=SHORT), DIES).wait_killed()
        assert world.effects() == {}
        world.finish(in_time=True)
    world.assert_once("a")


@each_kind
def test_p04_z_a_paused_handler_is_replaced_and_cannot_commit(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a")
        frozen = stage.start(
            Work(kind=kind, policy=SHORT), STOPS, idle_in_transaction_session_timeout="300ms"
        )
        frozen.wait_stopped()
        world.finish(in_time=True)
        assert world.effects() == {"a": 1}
        frozen.go_on()
        assert frozen.answer() is False
    world.assert_once("a")


@each_kind
def test_p04_c_a_cut_rolls_back_and_counts_no_attempt(stage: Stage, kind: str) -> None:
    link = stage.link()
    with world.consumer(kind):
        world.deliver("a")
        worker = stage.start(Work(kind=kind), STOPS, link=link)
        worker.wait_stopped()
        link.cut()
        worker.go_on()
        worker.answer()
        world.finish()
    world.assert_once("a")


@each_kind
def test_p04_b_a_killed_database_rolls_back_and_counts_no_attempt(
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


def test_p04_q_a_broker_lost_while_the_handler_runs_makes_a_duplicate_later(
    stage: Stage, queue: Queue
) -> None:
    with world.consumer("atomic"):
        broker.put(queue, "a")
        stops = Strike(at=broker.ACKNOWLEDGE, deed=Deed.STOP)
        receiver, link = broker.receiving(stage, queue, stops)
        receiver.wait_stopped()
        worker = stage.start(Work(), STOPS)
        worker.wait_stopped()
        link.cut()
        receiver.go_on()
        broker.wait_stored(duplicates=1)
        worker.go_on()
        worker.answer()
        world.finish()
    world.assert_once("a", duplicates=1)


@each_kind
def test_p04_s_a_full_disk_rolls_back_and_counts_no_attempt(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a")
        with disk.full("auth_group"):
            assert wake_up() is False
        assert world.effects() == {}
        world.finish()
    world.assert_once("a")


@pytest.mark.parametrize("hours", [1, -1])
def test_p04_t_the_clock_of_a_worker_does_not_decide_whose_session_it_is(
    stage: Stage, hours: int
) -> None:
    with world.consumer("external"):
        world.deliver("a")
        frozen = stage.start(Shifted(Work(kind="external"), hours), STOPS)
        frozen.wait_stopped()
        assert wake_up() is False  # its lease is good, whatever it thinks
        assert world.effects() == {}
        world.finish()
        frozen.go_on()
        frozen.answer()
    world.assert_once("a")
    assert world.counted("stale_commits") == 1


@each_kind
def test_p04_l_a_lock_that_is_not_free_counts_no_attempt(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a", sql="SELECT count(*) FROM (SELECT 1 FROM comboio_total FOR UPDATE) t")
        with holding("LOCK TABLE comboio_total"):
            worker = stage.start(Work(kind=kind), lock_timeout="50ms")
            assert worker.answer() is False
        world.finish()
    world.assert_once("a")


@each_kind
def test_p04_l_a_deadlock_counts_no_attempt(stage: Stage, kind: str) -> None:
    with world.consumer(kind), holding("LOCK TABLE auth_permission") as other:
        world.deliver("a", sql="SELECT count(*) FROM auth_permission")
        before = Strike(at="tests.faults.world:more", deed=Deed.STOP)
        worker = stage.start(Work(kind=kind), before, deadlock_timeout="20ms")
        worker.wait_stopped()
        worker.go_on()
        wait_until(lambda: waits_for_a_lock("comboio"), what="a worker that waits")
        other.execute("SET deadlock_timeout = '20s'")
        other.execute("LOCK TABLE auth_group")
        assert worker.answer() is False
        other.rollback()
        world.finish()
    world.assert_once("a")


@each_kind
def test_p04_l_a_terminated_session_counts_no_attempt(stage: Stage, kind: str) -> None:
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
def test_p04_l_a_handler_meets_no_free_slot_and_no_attempt_is_counted(
    durable: Durable, stage: Stage, kind: str
) -> None:
    with world.consumer(kind):
        world.deliver("a")
        worker = stage.start(Work(kind=kind), STOPS)
        worker.wait_stopped()
        assert terminate("state = 'idle in transaction'") == 1
        with taking_every_slot():
            worker.go_on()
            assert worker.answer() is False
        world.finish()
    world.assert_once("a")


@each_kind
def test_p04_v_of_many_workers_at_once_one_commits_and_twin_deliveries_are_duplicates(
    stage: Stage, kind: str
) -> None:
    with world.consumer(kind):
        world.deliver("a")
        first = stage.start(Work(kind=kind), STOPS)
        first.wait_stopped()
        others = [stage.start(Work(kind=kind)) for _ in range(2)]
        assert [each.answer() for each in others] == [False, False]
        receipts = race(*[lambda: world.deliver("a")] * 3)
        assert {each.verdict for each in receipts} == {"duplicate"}
        assert world.effects() == {}
        first.go_on()
        first.answer()
        world.finish()
    world.assert_once("a", duplicates=3)
