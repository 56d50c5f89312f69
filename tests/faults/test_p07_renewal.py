"""P7: the parent of a worker renews the lease of the session that its child works on."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.faults import disk, world
from tests.faults.child import Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Actor, Stage, holding
from tests.faults.jobs import Renew, Shifted, Work
from tests.faults.world import LEASE_SECONDS, SHORT
from tests.racing import race
from tests.rows import one, rows

pytestmark = pytest.mark.django_db(transaction=True)

HANDLER = Strike(at="monitor.engine.handler:payload_of", deed=Deed.STOP)
RENEWING = "monitor.store.leases:renew"
DIES = Strike(at=RENEWING, is_after=True, deed=Deed.DIE)
STOPS = Strike(at=RENEWING, deed=Deed.STOP)
LEFT = "SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 FROM comboio_lease"


def at_work(stage: Stage, *policy: tuple[str, object]) -> Actor:
    """A worker whose handler has the lease and takes its time."""
    worker = stage.start(Work(kind="external", policy=policy), HANDLER)
    worker.wait_stopped()
    return worker


def renewal(seconds: float = LEASE_SECONDS) -> Renew:
    """What its parent does for it."""
    ((message, fence),) = rows("SELECT message_id, fence FROM comboio_lease")
    return Renew(message, fence, seconds)


def assert_refused(worker: Actor) -> None:
    """Its lease is another's or nobody's: it commits nothing."""
    worker.go_on()
    worker.answer()
    world.assert_once("a")
    assert world.counted("stale_commits") == 1


def test_p07_k_a_worker_killed_while_it_renews_is_followed_at_the_end_of_its_lease(
    stage: Stage,
) -> None:
    with world.consumer("external"):
        world.deliver("a")
        worker = at_work(stage, *SHORT)
        stage.start(renewal(LEASE_SECONDS), DIES).wait_killed()
        worker.kill()
        assert one(LEFT) < 2  # what was not committed prolongs nothing
        world.finish(in_time=True)
    world.assert_once("a")


def test_p07_z_a_renewal_that_comes_after_the_end_revives_nothing(stage: Stage) -> None:
    with world.consumer("external"):
        world.deliver("a")
        worker = at_work(stage, *SHORT)
        parent = stage.start(renewal(), STOPS)
        parent.wait_stopped()
        world.finish(in_time=True)
        parent.go_on()
        assert parent.answer() == 0
        assert_refused(worker)


def test_p07_c_a_renewal_lost_in_a_black_hole_ends_the_lease_in_time(stage: Stage) -> None:
    link = stage.link()
    with world.consumer("external"):
        world.deliver("a")
        worker = at_work(stage, *SHORT)
        parent = stage.start(renewal(1.0), STOPS, link=link)
        parent.wait_stopped()
        link.swallow()
        parent.go_on()
        world.finish(in_time=True)
        assert parent.answer() == "OperationalError"  # it does not wait for ever
        assert_refused(worker)


def test_p07_b_renewals_go_on_when_the_database_is_back(durable: Durable, stage: Stage) -> None:
    with world.consumer("external"):
        world.deliver("a")
        worker = at_work(stage)
        parent = stage.start(renewal(), STOPS)
        parent.wait_stopped()
        again = renewal()
        durable.kill()
        parent.go_on()
        assert parent.answer() in ("OperationalError", "AdminShutdown")
        durable.start()
        assert again() == 1
        worker.go_on()
        worker.answer()
        world.finish()
    world.assert_once("a")
    assert world.counted("stale_commits") == 0


def test_p07_s_a_full_disk_costs_a_renewal_not_the_lease(stage: Stage) -> None:
    with world.consumer("external"):
        world.deliver("a")
        worker = at_work(stage)
        with disk.full("comboio_lease", "UPDATE"):
            assert stage.start(renewal()).answer() in ("DiskFull", "ConfigurationLimitExceeded")
        assert renewal()() == 1
        worker.go_on()
        worker.answer()
    world.assert_once("a")


@pytest.mark.parametrize("hours", [1, -1])
def test_p07_t_a_lease_is_prolonged_by_the_clock_of_the_database_alone(
    stage: Stage, hours: int
) -> None:
    with world.consumer("external"):
        world.deliver("a")
        worker = at_work(stage)
        assert stage.start(Shifted(renewal(100.0), hours)).answer() == 1
        assert 30 < one(LEFT) <= 100
        world.expire()
        assert stage.start(Shifted(renewal(), hours)).answer() == 0
        world.finish()
        assert_refused(worker)


def test_p07_l_a_lease_that_is_locked_costs_no_other_its_renewal(stage: Stage) -> None:
    with world.consumer("external"):
        world.deliver("a")
        world.deliver("b")
        workers = [at_work(stage), at_work(stage)]
        found = rows("SELECT message_id, fence FROM comboio_lease ORDER BY fence")
        first, second = (Renew(message, fence, 100.0) for message, fence in found)
        with holding(f"SELECT FROM comboio_lease WHERE fence = {found[0][1]} FOR UPDATE"):
            both = stage.start(first.beside(second), lock_timeout="5s")
            assert both.answer() == 1
        assert first() == 1
        for worker in workers:
            worker.go_on()
            worker.answer()
    world.assert_once("a", "b")


def test_p07_v_who_has_lost_the_lease_does_not_renew_that_of_its_successor(stage: Stage) -> None:
    with world.consumer("external"):
        world.deliver("a")
        worker, late = at_work(stage), renewal(1000.0)
        world.expire()
        successor = at_work(stage)
        assert race(late, late) == [0, 0]
        assert one("SELECT expires_at FROM comboio_lease") - one("SELECT now()") < timedelta(
            seconds=LEASE_SECONDS
        )
        successor.go_on()
        successor.answer()
        assert_refused(worker)
