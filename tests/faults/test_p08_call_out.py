"""P8, a call is out and no answer came: what happened outside is settled as its kind allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.domain.effect import Evidence, Told
from monitor.engine import verdict
from monitor.store import connections
from monitor.testing import clock
from tests.engine import drain_all
from tests.faults import disk, outside, world
from tests.faults.child import Deed, Strike
from tests.faults.durable import Durable
from tests.faults.injectors import Actor, Stage, holding, terminate
from tests.faults.outside import AWAY, KINDS, LEASE_SECONDS, SETTLED, Charge, known
from tests.faults.proxy import Proxy
from tests.racing import race
from tests.rows import one, rows

DIES = Strike(at="tests.faults.outside:acted", deed=Deed.DIE)
STOPS = Strike(at="tests.faults.outside:acted", deed=Deed.STOP)


@pytest.fixture
def books(tmp_path: Path) -> Path:
    made = tmp_path / "books"
    made.mkdir()
    return made


@pytest.fixture
def out(stage: Stage, books: Path) -> list[Actor]:
    """Three workers, frozen with their call out."""
    return call_out(stage, books)


def call_out(stage: Stage, books: Path, link: Proxy | None = None) -> list[Actor]:
    outside.deliver(books)
    actors = [stage.start(Charge(books=books, kind=each), STOPS, link=link) for each in KINDS]
    for each in actors:
        each.wait_stopped()
    return actors


def go_on(actors: list[Actor]) -> set[object]:
    """They answer."""
    for each in actors:
        each.go_on()
    return {each.answer() for each in actors}


def test_p08_k_a_killed_caller_repeats_only_what_its_provider_knows_again(
    stage: Stage, books: Path
) -> None:
    outside.deliver(books)
    for actor in [stage.start(Charge(books=books, kind=each), DIES) for each in KINDS]:
        actor.wait_killed()
    assert outside.heal(books) == SETTLED
    outside.assert_ends_well(books)


def test_p08_z_a_caller_frozen_past_its_lease_does_no_more_but_its_answer_is_heard(
    out: list[Actor], books: Path
) -> None:
    assert outside.heal(books) == SETTLED
    go_on(out)
    assert world.counted("stale_commits") == len(KINDS)
    ends = outside.heal(books)
    assert ends == {**SETTLED, "neither": known()}
    outside.assert_ends_well(books)


def test_p08_c_an_answer_that_finds_the_link_to_the_database_cut_is_settled_later(
    stage: Stage, books: Path
) -> None:
    link = stage.link()
    out = call_out(stage, books, link)
    link.cut()
    assert go_on(out) <= AWAY
    assert outside.heal(books) == SETTLED
    outside.assert_ends_well(books)


def test_p08_c_a_caller_in_a_black_hole_loses_its_session_to_another(
    stage: Stage, books: Path
) -> None:
    link = stage.link()
    out = call_out(stage, books, link)
    link.swallow()
    for each in out:
        each.go_on()
    assert outside.heal(books) == SETTLED
    assert all(each.is_silent() for each in out)
    outside.assert_ends_well(books)


def test_p08_b_a_database_killed_during_the_call_knows_after_it_that_the_call_is_out(
    durable: Durable, stage: Stage, books: Path
) -> None:
    out = call_out(stage, books)
    durable.kill()
    durable.start()
    assert go_on(out) <= AWAY
    assert outside.heal(books) == SETTLED
    outside.assert_ends_well(books)


def test_p08_s_a_full_disk_that_cannot_note_the_silence_changes_nothing_of_what_follows(
    stage: Stage, books: Path
) -> None:
    outside.deliver(books)
    with disk.full("comboio_evidence"):
        jobs = [Charge(books=books, kind=each, loses=True) for each in KINDS]
        assert {stage.start(each).answer() for each in jobs} <= AWAY
    assert outside.heal(books) == SETTLED
    outside.assert_ends_well(books)


def test_p08_l_a_session_terminated_during_the_call_is_settled_later(
    out: list[Actor], books: Path
) -> None:
    assert terminate(f"pid <> {one('SELECT pg_backend_pid()')}") >= len(KINDS)
    assert go_on(out) <= AWAY
    assert outside.heal(books) == SETTLED
    outside.assert_ends_well(books)


def test_p08_l_a_lock_on_the_effect_counts_no_attempt(stage: Stage, books: Path) -> None:
    outside.deliver(books)
    jobs = [Charge(books=books, kind=each, loses=True) for each in KINDS]
    out = [stage.start(each, STOPS, lock_timeout="50ms") for each in jobs]
    for each in out:
        each.wait_stopped()
    with holding("SELECT FROM comboio_effect FOR UPDATE"):
        assert go_on(out) <= AWAY
    assert one("SELECT count(*) FROM comboio_gate") == 0
    assert outside.heal(books) == SETTLED
    outside.assert_ends_well(books)


def test_p08_v_while_a_call_is_out_nobody_else_calls_and_a_twin_is_a_duplicate(
    out: list[Actor], books: Path
) -> None:
    with outside.declared(books):
        world_of_others = [drain_all() for _ in range(2)]
    outside.deliver(books)
    assert world_of_others == [0, 0]
    assert go_on(out) == {1}
    assert outside.fates(books) == dict.fromkeys(KINDS, known())
    assert world.counted("received", "duplicate") == len(KINDS)


def test_p08_v_a_callback_that_is_faster_than_the_answer_completes_it_once(
    out: list[Actor], books: Path
) -> None:
    evidence = Evidence(told=Told.DONE, result={"charge": "by callback"})
    for (number,) in rows("SELECT id FROM comboio_effect"):
        with connections.connect() as own:
            told = verdict.settle(own.cursor(), number, evidence, source="callback")
        assert told.kind == "settled"
    go_on(out)
    assert outside.heal(books) == dict.fromkeys(KINDS, known(by="callback"))
    outside.assert_ends_well(books)


def test_p08_v_two_takers_and_the_late_answer_at_once_make_one_effect(
    out: list[Actor], books: Path
) -> None:
    clock.advance(LEASE_SECONDS + 1)
    with outside.declared(books):
        race(drain_all, drain_all, lambda: [each.go_on() for each in out])
    for each in out:
        each.answer()
    outside.heal(books)
    outside.assert_ends_well(books)
