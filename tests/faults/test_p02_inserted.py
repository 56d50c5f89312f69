"""P2: the message is stored and committed; its sender was not told."""

from __future__ import annotations

import pytest

from tests.faults import broker, world
from tests.faults.child import COMMIT, Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Stage
from tests.faults.jobs import Post
from tests.rabbitmq import Queue
from tests.racing import race

pytestmark = pytest.mark.django_db(transaction=True)

DIES = Strike(at=COMMIT, is_after=True, following=broker.ACCEPTED, deed=Deed.DIE)
STOPS = Strike(at=COMMIT, is_after=True, following=broker.ACCEPTED, deed=Deed.STOP)
NOT_ACKNOWLEDGED = Strike(at=broker.ACKNOWLEDGE, deed=Deed.STOP)
POST = Post("a")


def test_p02_k_the_sender_of_a_killed_process_is_told_that_it_is_known(stage: Stage) -> None:
    with world.consumer("atomic"):
        stage.start(POST, DIES).wait_killed()
        assert POST() == 200
        world.finish()
    world.assert_once("a", duplicates=1)


def test_p02_k_a_receiver_killed_before_its_acknowledgement_gets_it_again(
    stage: Stage, queue: Queue
) -> None:
    with world.consumer("atomic"):
        broker.put(queue, "a")
        dies = Strike(at=broker.ACKNOWLEDGE, deed=Deed.DIE)
        broker.receiving(stage, queue, dies)[0].wait_killed()
        broker.receiving(stage, queue)
        broker.wait_stored(duplicates=1)
        world.finish()
    world.assert_once("a", duplicates=1)
    assert world.counted("duplicates", "redelivered") == 1


def test_p02_z_a_sender_that_asks_again_during_a_pause_is_told_that_it_is_known(
    stage: Stage,
) -> None:
    with world.consumer("atomic"):
        frozen = stage.start(POST, STOPS)
        frozen.wait_stopped()
        assert POST() == 200
        frozen.go_on()
        assert frozen.answer() == 202
        world.finish()
    world.assert_once("a", duplicates=1)


def test_p02_c_a_cut_after_the_commit_makes_the_next_one_a_duplicate(stage: Stage) -> None:
    link = stage.link()
    with world.consumer("atomic"):
        cut = stage.start(POST, STOPS, link=link)
        cut.wait_stopped()
        link.cut()
        cut.go_on()
        assert cut.answer() in (202, 503)
        assert POST() == 200
        world.finish()
    world.assert_once("a", duplicates=1)


def test_p02_b_what_was_stored_outlives_the_database_server(durable: Durable, stage: Stage) -> None:
    with world.consumer("atomic"):
        taker = stage.start(POST, STOPS)
        taker.wait_stopped()
        durable.kill()
        taker.go_on()
        assert taker.answer() in (202, 503)
        durable.start()
        assert POST() == 200
        world.finish()
    world.assert_once("a", duplicates=1)


def test_p02_q_a_lost_broker_sends_what_was_not_acknowledged_again(
    stage: Stage, queue: Queue
) -> None:
    with world.consumer("atomic"):
        broker.put(queue, "a")
        receiver, link = broker.receiving(stage, queue, NOT_ACKNOWLEDGED)
        receiver.wait_stopped()
        link.cut()
        receiver.go_on()
        broker.wait_stored(duplicates=1)
        world.finish()
        broker.wait_empty(queue)
    world.assert_once("a", duplicates=1)


def test_p02_v_twins_at_that_moment_are_duplicates(stage: Stage) -> None:
    with world.consumer("atomic"):
        first = stage.start(POST, STOPS)
        first.wait_stopped()
        assert {each.verdict for each in race(*[lambda: world.deliver("a")] * 3)} == {"duplicate"}
        first.go_on()
        assert first.answer() == 202
        world.finish()
    world.assert_once("a", duplicates=3)
