"""P11, requeue and bulk: the act shows as applied or not applied, and a repeat is harmless."""

from __future__ import annotations

import pytest

from monitor.domain.errors import RefusedError
from monitor.operations import Done, messages
from tests.activity import IDLE
from tests.engine import consuming, drain_all
from tests.faults import disk, requeueing
from tests.faults.child import COMMIT, Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Stage, holding, terminate
from tests.faults.outside import AWAY
from tests.faults.proxy import Mode
from tests.faults.requeueing import PART, Requeue, all_of_them, applied, bury, dead, repeat
from tests.people import ANNA, BERT
from tests.racing import race
from tests.rows import one
from tests.waiting import wait_until

MOVED = "monitor.store.requeues:requeue"
RECORDED = "monitor.operations.requeueing:record_many"
STOPS = Strike(at=MOVED, deed=Deed.STOP, is_after=True)
DIES = Strike(at=MOVED, deed=Deed.DIE, is_after=True)
DIES_IN_COMMIT = Strike(at=COMMIT, deed=Deed.DIE_IN_COMMIT, following=MOVED)
# In the second part of a bulk act: the first one has committed.
STOPS_LATER = Strike(at=MOVED, deed=Deed.STOP, is_after=True, following=RECORDED)
DIES_LATER = Strike(at=MOVED, deed=Deed.DIE, is_after=True, following=RECORDED)
KEYS = ("a", "b", "c", "d", "e")


@pytest.mark.parametrize("dies", [DIES, DIES_IN_COMMIT], ids=["before", "in the commit"])
def test_p11_k_a_killed_requeue_is_applied_or_not_and_a_repeat_is_harmless(
    stage: Stage, dies: Strike
) -> None:
    bury("a")
    click = Requeue(dead()[0])
    stage.start(click, dies).wait_killed()
    wait_until(lambda: one(IDLE) == 0, what="the end of its session")
    assert applied() in ({0} if dies is DIES else {0, 1})
    repeat(click)
    requeueing.assert_run_once("a")


def test_p11_k_a_bulk_killed_half_way_keeps_its_parts_and_is_gone_on_with(stage: Stage) -> None:
    bury(*KEYS)
    click = all_of_them()
    stage.start(click, DIES_LATER).wait_killed()
    wait_until(lambda: applied() == PART, what="the first part alone")
    assert requeueing.go_on() == len(KEYS) - PART
    assert "No message of these is dead any more" in repeat(click)
    requeueing.assert_run_once(*KEYS)


def test_p11_z_a_frozen_requeue_keeps_others_waiting_for_a_time_only_and_is_not_applied_later(
    stage: Stage,
) -> None:
    bury("a")
    (seen,) = dead()
    frozen = stage.start(Requeue(seen), STOPS, idle_in_transaction_session_timeout="300ms")
    frozen.wait_stopped()
    wait_until(lambda: one(IDLE) == 0, what="the server's patience")
    assert applied() == 0
    assert repeat(Requeue(seen, BERT)) == f"Message {seen.id} is ready again."
    frozen.go_on()
    assert frozen.answer() in AWAY
    assert one("SELECT DISTINCT actor FROM comboio_audit") == "bert"
    requeueing.assert_run_once("a")


@pytest.mark.parametrize(("mode", "count"), [(Mode.CUT_BEFORE, 0), (Mode.CUT_AFTER, 1)])
def test_p11_c_a_requeue_cut_at_its_commit_shows_what_became_of_it(
    stage: Stage, mode: Mode, count: int
) -> None:
    bury("a")
    link = stage.link()
    click = Requeue(dead()[0])
    operator = stage.start(click, STOPS, link=link)
    operator.wait_stopped()
    link.mode = mode
    operator.go_on()
    assert operator.answer() == "OperationalError"
    wait_until(lambda: one(IDLE) == 0, what="the end of its session")
    assert applied() == count
    assert ("requeued by anna" in repeat(click)) == bool(count)
    requeueing.assert_run_once("a")


@pytest.mark.parametrize(("mode", "parts"), [(Mode.CUT_BEFORE, 1), (Mode.CUT_AFTER, 2)])
def test_p11_c_a_bulk_cut_in_its_second_part_is_gone_on_with(
    stage: Stage, mode: Mode, parts: int
) -> None:
    bury(*KEYS)
    link = stage.link()
    click = all_of_them()
    operator = stage.start(click, STOPS_LATER, link=link)
    operator.wait_stopped()
    link.mode = mode
    operator.go_on()
    assert operator.answer() == "OperationalError"
    wait_until(lambda: applied() == parts * PART, what="whole parts")
    assert requeueing.go_on() == len(KEYS) - parts * PART
    assert "No message of these is dead any more" in repeat(click)
    requeueing.assert_run_once(*KEYS)


def test_p11_b_a_database_killed_in_a_bulk_keeps_its_whole_parts(
    durable: Durable, stage: Stage
) -> None:
    bury(*KEYS)
    click = all_of_them()
    operator = stage.start(click, STOPS_LATER)
    operator.wait_stopped()
    durable.kill()
    operator.go_on()
    assert operator.answer() == "OperationalError"
    durable.start()
    assert applied() == PART
    requeueing.go_on()
    requeueing.assert_run_once(*KEYS)


def test_p11_s_without_space_for_the_audit_nothing_is_applied(stage: Stage) -> None:
    bury(*KEYS)
    click, everything = Requeue(dead()[0]), all_of_them()
    with disk.full("comboio_audit"):
        assert stage.start(click).answer() == "DiskFull"
        assert stage.start(everything).answer() == "DiskFull"
        assert applied() == 0
    assert repeat(everything) == "5 requeued."
    requeueing.assert_run_once(*KEYS)


def test_p11_l_a_busy_session_is_told_and_not_waited_for(stage: Stage) -> None:
    bury(*KEYS)
    first, everything = dead()[0], all_of_them()
    lane = f"(SELECT lane FROM comboio_dead WHERE id = {first.id})"
    with holding(f"SELECT FROM comboio_lane WHERE lane = {lane} FOR UPDATE"):
        assert stage.start(Requeue(first)).answer() == "BusyError"
        assert applied() == 0
        told = stage.start(everything).answer()
        assert told == "4 requeued, 1 follows."
        assert applied() == 4
    assert requeueing.go_on() == 1
    requeueing.assert_run_once(*KEYS)


def test_p11_l_an_operator_whose_session_is_terminated_has_applied_nothing(stage: Stage) -> None:
    bury("a")
    click = Requeue(dead()[0])
    operator = stage.start(click, STOPS)
    operator.wait_stopped()
    assert terminate("state = 'idle in transaction'") == 1
    operator.go_on()
    assert operator.answer() in AWAY
    assert applied() == 0
    repeat(click)
    requeueing.assert_run_once("a")


def test_p11_v_of_two_operators_one_wins_and_the_other_is_told_who(stage: Stage) -> None:
    bury(*KEYS)
    for seen in dead():
        outcomes = race(
            lambda: messages.requeue(ANNA, seen.id, seen=seen.version),  # noqa: B023
            lambda: messages.requeue(BERT, seen.id, seen=seen.version),  # noqa: B023
        )
        (done,) = [each for each in outcomes if isinstance(each, Done)]
        (told,) = [each for each in outcomes if isinstance(each, RefusedError)]
        winner = ("anna", "bert")[outcomes.index(done)]
        assert f"requeued by {winner} at" in str(told)
    requeueing.assert_run_once(*KEYS)


def test_p11_v_two_bulks_beside_a_worker_put_each_back_once(stage: Stage) -> None:
    bury(*KEYS)
    click = all_of_them()
    first = stage.start(click, STOPS)
    first.wait_stopped()
    ran: list[str] = []
    with consuming(lambda _payload, message: ran.append(message.key)):
        second = stage.start(all_of_them())
        second.answer()
        drain_all()
        first.go_on()
        first.answer()
        repeat(click)
        drain_all()
    assert sorted(ran) == sorted(KEYS)
    assert one("SELECT count(*) FROM comboio_audit WHERE verb = 'requeue'") == len(KEYS)
