"""P6: the effects are committed, and nobody was told: the message comes again."""

from __future__ import annotations

import pytest

from tests.faults import broker, world
from tests.faults.child import COMMIT, Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Stage
from tests.faults.jobs import Work
from tests.faults.world import KINDS
from tests.rabbitmq import Queue
from tests.racing import race

pytestmark = pytest.mark.django_db(transaction=True)

WRITTEN = "tests.faults.world:written"
DIES = Strike(at=COMMIT, is_after=True, following=WRITTEN, deed=Deed.DIE)
STOPS = Strike(at=COMMIT, is_after=True, following=WRITTEN, deed=Deed.STOP)
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_p06_k_a_kill_after_the_commit_leaves_nothing_to_do(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a")
        stage.start(Work(kind=kind), DIES).wait_killed()
        world.redelivered("a")
        world.finish()
    world.assert_once("a", duplicates=1)


@each_kind
def test_p06_z_a_long_pause_after_the_commit_changes_nothing(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a")
        frozen = stage.start(Work(kind=kind), STOPS)
        frozen.wait_stopped()
        world.redelivered("a")
        world.finish()
        frozen.go_on()
        frozen.answer()
    world.assert_once("a", duplicates=1)


@each_kind
def test_p06_c_a_cut_after_the_commit_changes_nothing(stage: Stage, kind: str) -> None:
    link = stage.link()
    with world.consumer(kind):
        world.deliver("a")
        worker = stage.start(Work(kind=kind), STOPS, link=link)
        worker.wait_stopped()
        link.cut()
        worker.go_on()
        worker.answer()
        world.redelivered("a")
        world.finish()
    world.assert_once("a", duplicates=1)


@each_kind
def test_p06_b_what_was_committed_outlives_the_database_server(
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
        world.redelivered("a")
        world.finish()
    world.assert_once("a", duplicates=1)


def test_p06_q_a_lost_broker_sends_what_is_done_already(stage: Stage, queue: Queue) -> None:
    with world.consumer("atomic"):
        broker.put(queue, "a")
        stops = Strike(at=broker.ACKNOWLEDGE, deed=Deed.STOP)
        receiver, link = broker.receiving(stage, queue, stops)
        receiver.wait_stopped()
        world.finish()
        link.cut()
        receiver.go_on()
        broker.wait_stored(duplicates=1)
        world.finish()
    world.assert_once("a", duplicates=1)
    assert world.counted("duplicates", "redelivered") == 1


@each_kind
def test_p06_v_twins_that_come_after_the_commit_are_duplicates(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a")
        worker = stage.start(Work(kind=kind), STOPS)
        worker.wait_stopped()
        receipts = race(*[lambda: world.deliver("a")] * 3)
        assert {each.verdict for each in receipts} == {"duplicate"}
        worker.go_on()
        worker.answer()
        world.finish()
    world.assert_once("a", duplicates=3)
