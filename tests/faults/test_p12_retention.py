"""P12, retention: chunk by chunk, each wholly or not at all, and never what may still run."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from monitor.maintenance import retention
from tests.faults import disk, requeueing, world
from tests.faults.child import Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Stage, holding, terminate
from tests.faults.jobs import Shifted
from tests.faults.outside import AWAY
from tests.faults.proxy import Mode
from tests.monitor.maintenance import aged
from tests.racing import race
from tests.rows import one, rows
from tests.waiting import wait_until

OLD = ("a", "b", "c", "d", "e")
CHUNK = 2
FORGOT = "monitor.store.retention:forget_messages"
COUNTED = "monitor.store.rollup:add"
# In the second chunk: the first one has committed.
DIES_LATER = Strike(at=FORGOT, deed=Deed.DIE, is_after=True, following=COUNTED)
STOPS_LATER = Strike(at=FORGOT, deed=Deed.STOP, is_after=True, following=COUNTED)


def purge() -> int:
    """The job of a clock that purges in small chunks. Answers how many rows went."""
    with patch.object(retention, "ROWS", CHUNK):
        return aged.purge()


def old_ones(days: float = 8) -> None:
    """Messages that were done so many days ago, and one of them dead."""
    requeueing.bury("dead")
    with world.consumer("atomic"):
        for key in OLD:
            world.deliver(key)
        world.finish()
    aged.age(days)


def gone() -> int:
    """How many messages went: each with its record, counted, its key still known."""
    assert rows("SELECT id FROM comboio_done ORDER BY 1") == rows(
        "SELECT id FROM comboio_message WHERE key <> 'dead' ORDER BY 1"
    )
    assert one("SELECT count(*) FROM comboio_dedup") == len(OLD) + 1
    assert one("SELECT count(*) FROM comboio_dead") == 1
    number = len(OLD) - one("SELECT count(*) FROM comboio_done")
    assert world.counted("purged", "message") == number
    return number


def assert_ends() -> None:
    """The next clock ends it, and what was sent again is still a duplicate."""
    purge()
    assert gone() == len(OLD)
    with world.consumer("atomic"):
        world.redelivered(*OLD)
    assert world.effects() == dict.fromkeys(OLD, 1)


def test_p12_k_a_purge_killed_in_a_chunk_keeps_the_chunks_before_it(stage: Stage) -> None:
    old_ones()
    stage.start(purge, DIES_LATER).wait_killed()
    wait_until(lambda: gone() == CHUNK, what="the first chunk alone")
    assert_ends()


@pytest.mark.parametrize(("mode", "chunks"), [(Mode.CUT_BEFORE, 1), (Mode.CUT_AFTER, 2)])
def test_p12_c_a_purge_cut_at_the_commit_of_a_chunk_has_purged_it_or_not(
    stage: Stage, mode: Mode, chunks: int
) -> None:
    old_ones()
    link = stage.link()
    clock = stage.start(purge, STOPS_LATER, link=link)
    clock.wait_stopped()
    link.mode = mode
    clock.go_on()
    assert clock.answer() in AWAY
    wait_until(lambda: gone() == chunks * CHUNK, what="whole chunks")
    assert_ends()


def test_p12_b_a_database_killed_in_a_chunk_keeps_the_chunks_before_it(
    durable: Durable, stage: Stage
) -> None:
    old_ones()
    clock = stage.start(purge, STOPS_LATER)
    clock.wait_stopped()
    durable.kill()
    clock.go_on()
    assert clock.answer() in AWAY
    durable.start()
    assert gone() == CHUNK
    assert_ends()


def test_p12_s_without_space_to_count_it_nothing_is_purged(stage: Stage) -> None:
    old_ones()
    with disk.full("comboio_rollup_delta"):
        assert stage.start(purge).answer() in AWAY
        assert gone() == 0
    assert_ends()


def test_p12_t_the_clock_of_the_process_purges_nothing_that_is_young_and_keeps_nothing_old(
    stage: Stage,
) -> None:
    old_ones(days=6)
    assert stage.start(Shifted(purge, 100 * 24)).answer() == 0
    assert gone() == 0
    aged.age(2)
    stage.start(Shifted(purge, -100 * 24)).answer()
    assert gone() == len(OLD)


def test_p12_l_a_record_that_is_locked_is_waited_for_briefly_and_purged_later(
    stage: Stage,
) -> None:
    old_ones()
    last = one("SELECT max(id) FROM comboio_done")
    with holding(f"SELECT FROM comboio_done WHERE id = {last} FOR UPDATE"):
        assert stage.start(purge).answer() in AWAY
        assert gone() == 2 * CHUNK
    assert_ends()


def test_p12_l_a_purge_whose_session_is_terminated_is_gone_on_with(stage: Stage) -> None:
    old_ones()
    clock = stage.start(purge, STOPS_LATER)
    clock.wait_stopped()
    assert terminate("state = 'idle in transaction'") == 1
    clock.go_on()
    assert clock.answer() in AWAY
    assert gone() == CHUNK
    assert_ends()


@pytest.mark.django_db(transaction=True)
def test_p12_v_a_replay_at_the_end_of_a_keys_time_is_a_duplicate_or_new_never_both() -> None:
    old_ones(days=15)
    with patch.object(retention, "BLOCKS", 1), world.consumer("atomic"):
        aged.purge()  # messages; their keys go as well where nobody comes
        for key in ("f", "g", "h", "i"):
            world.deliver(key)
            world.finish()
            aged.age(15)
            retention.PURGES[0].again()
            retention.PURGES[0].run()
            _, receipt = race(aged.purge, lambda key=key: world.deliver(key))
            arrived = one("SELECT count(*) FROM comboio_message WHERE key = %(key)s", key=key)
            assert arrived == (receipt.verdict == "new")
            assert arrived <= one("SELECT count(*) FROM comboio_dedup")
            world.finish()
            assert world.effects()[key] == 1 + arrived
