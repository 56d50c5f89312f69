"""P3: a worker has claimed a message; its handler has not started."""

from __future__ import annotations

import pytest

from tests.faults import disk, world
from tests.faults.child import Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Stage, holding, taking_every_slot, terminate
from tests.faults.jobs import Shifted, Work, wake_up
from tests.faults.world import KINDS, SHORT
from tests.racing import race

pytestmark = pytest.mark.django_db(transaction=True)

BEFORE_THE_HANDLER = "monitor.engine.handler:payload_of"
DIES = Strike(at=BEFORE_THE_HANDLER, deed=Deed.DIE)
STOPS = Strike(at=BEFORE_THE_HANDLER, deed=Deed.STOP)
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_p03_k_what_a_killed_worker_had_claimed_is_run_by_another(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a")
        stage.start(Work(kind=kind), DIES).wait_killed()
        world.finish()
    world.assert_once("a")


@each_kind
def test_p03_z_who_was_paused_after_the_claim_commits_nothing(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a")
        frozen = stage.start(
            Work(kind=kind, policy=SHORT), STOPS, idle_in_transaction_session_timeout="300ms"
        )
        frozen.wait_stopped()
        world.finish(in_time=True)
        frozen.go_on()
        frozen.answer()
    world.assert_once("a")
    assert world.counted("stale_commits") == (kind == "external")


@each_kind
def test_p03_c_a_cut_after_the_claim_frees_it(stage: Stage, kind: str) -> None:
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
def test_p03_c_a_black_hole_after_the_claim_frees_it(stage: Stage, kind: str) -> None:
    link = stage.link()
    with world.consumer(kind):
        world.deliver("a")
        worker = stage.start(
            Work(kind=kind), STOPS, link=link, idle_in_transaction_session_timeout="300ms"
        )
        worker.wait_stopped()
        link.swallow()
        worker.go_on()
        world.finish()
        assert worker.is_silent()
        worker.kill()
    world.assert_once("a")


@each_kind
def test_p03_b_a_database_that_dies_after_the_claim_finds_the_message_ready(
    durable: Durable, stage: Stage, kind: str
) -> None:
    with world.consumer(kind):
        world.deliver("a")
        worker = stage.start(Work(kind=kind), STOPS)
        worker.wait_stopped()
        durable.kill()
        worker.go_on()
        assert worker.answer() is False
        assert wake_up() is False  # away: nothing happens, nothing is lost
        durable.start()
        world.finish()
    world.assert_once("a")


@each_kind
def test_p03_s_a_full_disk_at_the_claim_waits_for_space(stage: Stage, kind: str) -> None:
    table, event = (
        ("comboio_lease", "INSERT") if kind == "external" else ("comboio_worker", "UPDATE")
    )
    with world.consumer(kind):
        world.deliver("a")
        with disk.full(table, event):
            assert wake_up() is False
            assert world.states() == {"a": ["ready"]}
        world.finish()
    world.assert_once("a")


@pytest.mark.parametrize("hours", [1, -1])
def test_p03_t_the_clock_of_a_worker_does_not_prolong_its_claim(stage: Stage, hours: int) -> None:
    with world.consumer("external"):
        world.deliver("a")
        frozen = stage.start(Shifted(Work(kind="external"), hours), STOPS)
        frozen.wait_stopped()
        assert wake_up() is False
        assert world.states() == {"a": ["ready"]}  # the claim is good, by the database's clock
        world.finish()
        frozen.go_on()
        frozen.answer()
    world.assert_once("a")
    assert world.counted("stale_commits") == 1


@each_kind
def test_p03_l_a_claim_that_cannot_be_written_down_is_made_again(stage: Stage, kind: str) -> None:
    table = "comboio_lease" if kind == "external" else "comboio_worker"
    with world.consumer(kind):
        world.deliver("a")
        with holding(f"LOCK TABLE {table}"):
            assert stage.start(Work(kind=kind), lock_timeout="50ms").answer() is False
        world.finish()
    world.assert_once("a")


@each_kind
def test_p03_l_a_terminated_session_frees_its_claim(stage: Stage, kind: str) -> None:
    with world.consumer(kind):
        world.deliver("a")
        worker = stage.start(Work(kind=kind), STOPS)
        worker.wait_stopped()
        terminate("application_name = 'comboio-test'")
        worker.go_on()
        worker.answer()
        world.finish()
    world.assert_once("a")


@each_kind
def test_p03_l_without_a_free_slot_a_worker_waits(
    durable: Durable, stage: Stage, kind: str
) -> None:
    with world.consumer(kind):
        world.deliver("a")
        with taking_every_slot():
            assert stage.start(Work(kind=kind)).answer() is False
        assert world.states() == {"a": ["ready"]}
        world.finish()
    world.assert_once("a")


@each_kind
def test_p03_v_of_many_workers_one_claims_a_message(kind: str) -> None:
    keys = ("a", "b", "c")
    with world.consumer(kind):
        for key in keys:
            world.deliver(key)
        race(wake_up, wake_up, wake_up)
        world.finish()
    world.assert_once(*keys)
