"""P9, an answer is there and not yet marked as completed: it is kept, or settled as after P8."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest

from monitor.domain.effect import Evidence, Told
from monitor.engine import verdict
from monitor.store import connections
from monitor.testing import clock
from tests.activity import BLOCKED, IDLE
from tests.faults import disk, outside, world
from tests.faults.child import COMMIT, Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Actor, Stage, holding, terminate
from tests.faults.outside import AWAY, KINDS, LEASE_SECONDS, SETTLED, Charge, Fate, known
from tests.faults.proxy import Mode, Proxy
from tests.rows import one, rows
from tests.waiting import wait_until

ANSWERED = "monitor.engine.calling:Caller._answered"
DIES = Strike(at=COMMIT, deed=Deed.DIE, following=ANSWERED)
DIES_IN_COMMIT = Strike(at=COMMIT, deed=Deed.DIE_IN_COMMIT, following=ANSWERED)
STOPS = Strike(at=ANSWERED, deed=Deed.STOP)
STOPS_IN_IT = Strike(at=COMMIT, deed=Deed.STOP, following=ANSWERED)
ALL_KNOWN = dict.fromkeys(KINDS, known())


@pytest.fixture
def books(tmp_path: Path) -> Path:
    made = tmp_path / "books"
    made.mkdir()
    return made


def answered(
    stage: Stage, books: Path, stops: Strike, link: Proxy | None = None, **session: str
) -> list[Actor]:
    """Three workers, frozen with the answer in their hands."""
    outside.deliver(books)
    jobs = [Charge(books=books, kind=each) for each in KINDS]
    actors = [stage.start(each, stops, link=link, **session) for each in jobs]
    for each in actors:
        each.wait_stopped()
    return actors


def go_on(actors: list[Actor]) -> set[object]:
    for each in actors:
        each.go_on()
    return {each.answer() for each in actors}


def test_p09_k_killed_before_its_commit_an_answer_is_looked_for_as_the_kind_allows(
    stage: Stage, books: Path
) -> None:
    outside.deliver(books)
    for actor in [stage.start(Charge(books=books, kind=each), DIES) for each in KINDS]:
        actor.wait_killed()
    assert outside.heal(books) == SETTLED
    outside.assert_ends_well(books)


def test_p09_k_killed_in_its_commit_the_answer_is_there_or_looked_for_never_both(
    stage: Stage, books: Path
) -> None:
    outside.deliver(books)
    for actor in [stage.start(Charge(books=books, kind=each), DIES_IN_COMMIT) for each in KINDS]:
        actor.wait_killed()
    ends = outside.heal(books)
    assert all(ends[kind] in (known(), SETTLED[kind]) for kind in KINDS), ends
    outside.assert_ends_well(books)


def test_p09_z_an_answer_that_comes_after_the_lease_is_heard_and_does_nothing_twice(
    stage: Stage, books: Path
) -> None:
    out = answered(stage, books, STOPS)
    assert outside.heal(books) == SETTLED
    go_on(out)
    assert world.counted("stale_commits") == len(KINDS)
    assert outside.heal(books) == {**SETTLED, "neither": known()}
    outside.assert_ends_well(books)


def test_p09_z_frozen_in_its_commit_a_worker_blocks_its_successor_for_a_time_only(
    stage: Stage, books: Path
) -> None:
    out = answered(stage, books, STOPS_IN_IT, idle_in_transaction_session_timeout="200ms")
    wait_until(lambda: one(IDLE) == 0, what="the server's patience")
    assert outside.heal(books) == SETTLED
    assert go_on(out) <= AWAY
    assert outside.heal(books) == SETTLED
    outside.assert_ends_well(books)


@pytest.mark.parametrize(
    ("mode", "follows"), [(Mode.CUT_BEFORE, SETTLED), (Mode.CUT_AFTER, ALL_KNOWN)]
)
def test_p09_c_a_link_cut_at_the_commit_of_an_answer_leaves_it_kept_or_looked_for(
    stage: Stage, books: Path, mode: Mode, follows: dict[str, Fate]
) -> None:
    links = [stage.link() for _ in KINDS]
    outside.deliver(books)
    out = [
        stage.start(Charge(books=books, kind=kind), STOPS, link=link)
        for kind, link in zip(KINDS, links, strict=True)
    ]
    for actor, link in zip(out, links, strict=True):
        actor.wait_stopped()
        link.mode = mode
    assert go_on(out) <= AWAY
    assert outside.heal(books) == follows
    outside.assert_ends_well(books)


def test_p09_c_a_black_hole_that_swallows_the_commits_answer_costs_the_lease_and_no_more(
    stage: Stage, books: Path
) -> None:
    link = stage.link()
    outside.deliver(books, "neither")
    actor = stage.start(Charge(books=books, kind="neither"), STOPS, link=link)
    actor.wait_stopped()
    link.mode = Mode.HOLE_AFTER
    actor.go_on()
    wait_until(link.struck.is_set, what="a swallowed answer")
    assert outside.heal(books) == {"neither": known()}
    assert actor.is_silent()
    outside.assert_ends_well(books)


def test_p09_b_a_database_killed_before_the_commit_of_an_answer_has_it_looked_for(
    durable: Durable, stage: Stage, books: Path
) -> None:
    out = answered(stage, books, STOPS_IN_IT)
    durable.kill()
    durable.start()
    assert go_on(out) <= AWAY
    assert outside.heal(books) == SETTLED
    outside.assert_ends_well(books)


def test_p09_s_an_answer_that_a_full_disk_could_not_keep_is_looked_for(
    stage: Stage, books: Path
) -> None:
    outside.deliver(books)
    with disk.full("comboio_evidence"):
        jobs = [Charge(books=books, kind=each) for each in KINDS]
        assert {stage.start(each).answer() for each in jobs} <= AWAY
    assert outside.heal(books) == SETTLED
    outside.assert_ends_well(books)


def test_p09_l_an_answer_whose_session_was_terminated_is_looked_for(
    stage: Stage, books: Path
) -> None:
    out = answered(stage, books, STOPS_IN_IT)
    assert terminate(f"pid <> {one('SELECT pg_backend_pid()')}") >= len(KINDS)
    assert go_on(out) <= AWAY
    assert outside.heal(books) == SETTLED
    outside.assert_ends_well(books)


def test_p09_l_an_answer_that_waited_too_long_for_a_lock_counts_no_attempt(
    stage: Stage, books: Path
) -> None:
    out = answered(stage, books, STOPS, lock_timeout="50ms")
    with holding("SELECT FROM comboio_effect FOR UPDATE"):
        assert go_on(out) <= AWAY
    assert one("SELECT count(*) FROM comboio_gate") == 0
    assert outside.heal(books) == SETTLED
    outside.assert_ends_well(books)


def test_p09_v_a_callback_at_the_moment_of_the_answer_completes_it_once(
    stage: Stage, books: Path
) -> None:
    out = answered(stage, books, STOPS_IN_IT)
    told: list[str] = []

    def call_back() -> None:
        evidence = Evidence(told=Told.DONE, result={"charge": "by callback"})
        for (number,) in numbers:
            with connections.connect() as own:
                told.append(verdict.settle(own.cursor(), number, evidence, source="callback").kind)

    numbers = rows("SELECT id FROM comboio_effect")
    caller = Thread(target=call_back)
    caller.start()
    wait_until(lambda: one(BLOCKED) == 1, what="the callback behind the answer")
    assert go_on(out) == {1}
    caller.join(10)
    assert told == ["agrees"] * len(KINDS)
    assert outside.heal(books) == ALL_KNOWN
    outside.assert_ends_well(books)


def test_p09_v_a_successor_that_settled_it_first_leaves_nothing_to_the_late_answer(
    stage: Stage, books: Path
) -> None:
    out = answered(stage, books, STOPS)
    clock.advance(LEASE_SECONDS + 1)
    outside.heal(books)
    outside.assert_ends_well(books)
    go_on(out)
    outside.assert_ends_well(books)
