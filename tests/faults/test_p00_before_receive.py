"""P0: the message is on its way, nobody has received it."""

from __future__ import annotations

import pytest

from tests.faults import broker, disk, world
from tests.faults.child import Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Stage, holding, taking_every_slot, terminate
from tests.faults.jobs import Post
from tests.rabbitmq import Queue

pytestmark = pytest.mark.django_db(transaction=True)

DIES = Strike(at="monitor.engine.ingest:accept", deed=Deed.DIE)
STOPS = Strike(at="monitor.engine.ingest:accept", deed=Deed.STOP)
RECEIVERS = "application_name LIKE 'comboio receiver%'"


def test_p00_k_what_a_killed_receiver_had_fetched_comes_again(stage: Stage, queue: Queue) -> None:
    with world.consumer("atomic"):
        broker.put(queue, "a")
        broker.receiving(stage, queue, DIES)[0].wait_killed()
        broker.receiving(stage, queue)
        broker.wait_stored()
        world.finish()
        broker.wait_empty(queue)
    world.assert_once("a")


def test_p00_z_a_paused_receiver_that_was_replaced_stores_nothing(
    stage: Stage, queue: Queue
) -> None:
    with world.consumer("atomic"):
        broker.put(queue, "a")
        frozen, link = broker.receiving(stage, queue, STOPS)
        frozen.wait_stopped()
        # Both ends give up one that is silent for longer than their limits.
        link.cut()
        assert terminate(RECEIVERS) == 1
        broker.receiving(stage, queue)
        broker.wait_stored()
        frozen.go_on()
        world.finish()
        broker.wait_empty(queue)
    world.assert_once("a")


def test_p00_c_a_receiver_cut_from_the_database_comes_back_by_itself(
    stage: Stage, queue: Queue
) -> None:
    database = stage.link()
    with world.consumer("atomic"):
        broker.receiving(stage, queue, database=database)
        broker.wait_subscribed(queue)
        database.cut()
        broker.put(queue, "a")
        broker.wait_stored()
        world.finish()
    world.assert_once("a")


def test_p00_b_a_receiver_waits_for_a_dead_database(
    durable: Durable, stage: Stage, queue: Queue
) -> None:
    with world.consumer("atomic"):
        broker.receiving(stage, queue)
        broker.wait_subscribed(queue)
        durable.kill()
        broker.put(queue, "a")
        assert Post("b")() == 503
        durable.start()
        assert Post("b")() == 202
        broker.wait_stored(2)
        world.finish()
    world.assert_once("a", "b")


def test_p00_q_a_receiver_that_lost_its_broker_comes_back_by_itself(
    stage: Stage, queue: Queue
) -> None:
    with world.consumer("atomic"):
        _, link = broker.receiving(stage, queue)
        broker.wait_subscribed(queue)
        link.cut()
        broker.put(queue, "a")
        broker.wait_stored()
        world.finish()
    world.assert_once("a")


def test_p00_s_a_receiver_waits_for_space_on_the_disk(stage: Stage, queue: Queue) -> None:
    with world.consumer("atomic"):
        with disk.full("comboio_message"):
            broker.put(queue, "a")
            broker.receiving(stage, queue)
            assert Post("b")() == 503
            assert world.states() == {}
        assert Post("b")() == 202
        broker.wait_stored(2)
        world.finish()
    world.assert_once("a", "b")


def test_p00_l_a_receiver_waits_for_a_lock(stage: Stage, queue: Queue) -> None:
    with world.consumer("atomic"):
        with holding("LOCK TABLE comboio_dedup"):
            broker.put(queue, "a")
            broker.receiving(stage, queue)
            assert stage.start(Post("b"), lock_timeout="50ms").answer() == 503
        assert Post("b")() == 202
        broker.wait_stored(2)
        world.finish()
    world.assert_once("a", "b")


def test_p00_l_a_receiver_waits_for_a_free_slot(
    durable: Durable, stage: Stage, queue: Queue
) -> None:
    with world.consumer("atomic"):
        with taking_every_slot():
            broker.put(queue, "a")
            broker.receiving(stage, queue)
            assert Post("b")() == 503
        broker.wait_stored()
        world.finish()
    world.assert_once("a")
