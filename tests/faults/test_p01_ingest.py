"""P1: the message is inserted, its commit is in flight."""

from __future__ import annotations

import pytest

from tests.faults import broker, disk, world
from tests.faults.child import COMMIT, Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Stage, holding, taking_every_slot
from tests.faults.jobs import Post
from tests.faults.proxy import Mode
from tests.rabbitmq import Queue
from tests.racing import race

pytestmark = pytest.mark.django_db(transaction=True)

DIES = Strike(at=COMMIT, following=broker.ACCEPTED, deed=Deed.DIE_IN_COMMIT)
STOPS = Strike(at=COMMIT, following=broker.ACCEPTED, deed=Deed.STOP)
POST = Post("a")


def assert_known_or_new_by_the_next() -> None:
    """Whatever became of the commit, the sender's next try settles it."""
    status = POST()
    assert status in (200, 202)
    world.finish()
    world.assert_once("a", duplicates=int(status == 200))


def test_p01_k_after_a_kill_in_the_commit_the_next_try_settles_it(stage: Stage) -> None:
    with world.consumer("atomic"):
        stage.start(POST, DIES).wait_killed()
        assert_known_or_new_by_the_next()


def test_p01_z_a_paused_insert_makes_room_for_the_next_try(stage: Stage) -> None:
    with world.consumer("atomic"):
        frozen = stage.start(POST, STOPS, idle_in_transaction_session_timeout="300ms")
        frozen.wait_stopped()
        assert POST() == 202  # waits for its twin, which the server ends
        frozen.go_on()
        assert frozen.answer() == 503
        world.finish()
    world.assert_once("a")


@pytest.mark.parametrize("mode", [Mode.CUT_BEFORE, Mode.CUT_AFTER])
def test_p01_c_after_a_cut_in_the_commit_the_next_try_settles_it(stage: Stage, mode: Mode) -> None:
    link = stage.link()
    with world.consumer("atomic"):
        taker = stage.start(POST, STOPS, link=link)
        taker.wait_stopped()
        link.mode = mode
        taker.go_on()
        assert taker.answer() == 503
        assert_known_or_new_by_the_next()


@pytest.mark.parametrize("mode", [Mode.HOLE_BEFORE, Mode.HOLE_AFTER])
def test_p01_c_a_commit_that_is_never_answered_keeps_no_other_try_waiting(
    stage: Stage, mode: Mode
) -> None:
    link = stage.link()
    with world.consumer("atomic"):
        taker = stage.start(POST, STOPS, link=link, idle_in_transaction_session_timeout="300ms")
        taker.wait_stopped()
        link.mode = mode
        taker.go_on()
        assert link.struck.wait(20)
        assert_known_or_new_by_the_next()


def test_p01_c_a_receiver_whose_commit_is_never_answered_gives_up_and_gets_it_again(
    stage: Stage, queue: Queue
) -> None:
    database = stage.link()
    with world.consumer("atomic"):
        broker.put(queue, "a")
        stops = Strike(at=broker.ACCEPTED, is_after=True, deed=Deed.STOP)
        receiver, _ = broker.receiving(stage, queue, stops, database=database, is_impatient=True)
        receiver.wait_stopped()
        database.mode = Mode.HOLE_AFTER
        receiver.go_on()
        broker.wait_stored(duplicates=1)
        world.finish()
    world.assert_once("a", duplicates=1)


def test_p01_b_a_database_that_dies_accepts_nothing(durable: Durable, stage: Stage) -> None:
    with world.consumer("atomic"):
        taker = stage.start(POST, STOPS)
        taker.wait_stopped()
        durable.kill()
        taker.go_on()
        assert taker.answer() == 503
        assert POST() == 503
        durable.start()
        assert_known_or_new_by_the_next()


def test_p01_q_a_broker_lost_during_the_insert_sends_it_again(stage: Stage, queue: Queue) -> None:
    with world.consumer("atomic"):
        broker.put(queue, "a")
        stops = Strike(at=broker.ACCEPTED, is_after=True, deed=Deed.STOP)
        receiver, link = broker.receiving(stage, queue, stops)
        receiver.wait_stopped()
        link.cut()
        receiver.go_on()
        broker.wait_stored(duplicates=1)
        world.finish()
    world.assert_once("a", duplicates=1)


@pytest.mark.parametrize("at_commit", [False, True])
def test_p01_s_a_full_disk_accepts_nothing(*, at_commit: bool) -> None:
    with world.consumer("atomic"):
        with disk.full("comboio_message", at_commit=at_commit):
            assert POST() == 503
            assert world.states() == {}
        assert POST() == 202
        world.finish()
    world.assert_once("a")


def test_p01_l_a_lock_that_is_not_free_accepts_nothing(stage: Stage) -> None:
    with world.consumer("atomic"):
        with holding("LOCK TABLE comboio_dedup"):
            assert stage.start(POST, lock_timeout="50ms").answer() == 503
        assert POST() == 202
        world.finish()
    world.assert_once("a")


def test_p01_l_without_a_free_slot_nothing_is_accepted(durable: Durable, stage: Stage) -> None:
    with world.consumer("atomic"):
        with taking_every_slot():
            assert stage.start(POST).answer() == 503
        assert POST() == 202
        world.finish()
    world.assert_once("a")


def test_p01_v_of_many_at_once_one_is_new_and_the_rest_are_duplicates() -> None:
    with world.consumer("atomic"):
        receipts = race(*[lambda: world.deliver("a")] * 5)
        verdicts = sorted(each.verdict for each in receipts)
        assert verdicts == ["duplicate"] * 4 + ["new"]
        world.finish()
    world.assert_once("a", duplicates=4)
