"""Which keys make a batch: whatever is read, order holds and nobody starves."""

from __future__ import annotations

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from monitor.engine.choose import Candidate, choose, cursors


@st.composite
def stretches(draw: st.DrawFn) -> list[Candidate]:
    """Keys as they are read: per lane a run of sessions, ids ascending, one gate per session."""
    found: list[Candidate] = []
    number = 0
    for lane in range(draw(st.integers(0, 4))):
        for session in range(draw(st.integers(0, 6))):
            gated = draw(st.sampled_from([None, None, True, False]))
            for _ in range(draw(st.integers(1, 9))):
                number += 1
                found.append(Candidate(lane, lane * 100 + session, number, gated))
    return found


@given(stretches(), st.integers(1, 30))
def test_of_each_session_a_batch_holds_a_prefix_in_order(
    candidates: list[Candidate], limit: int
) -> None:
    chosen = choose(candidates, limit)
    for session in {each.session for each in chosen}:
        own = [each.id for each in chosen if each.session == session]
        waiting = [each.id for each in candidates if each.session == session]
        assert own == waiting[: len(own)]


@given(stretches(), st.integers(1, 30))
def test_nothing_of_a_shut_session_is_chosen_and_nothing_twice(
    candidates: list[Candidate], limit: int
) -> None:
    chosen = choose(candidates, limit)
    assert not any(each.gated for each in chosen)
    assert len({each.id for each in chosen}) == len(chosen) <= limit


@given(stretches(), st.integers(1, 30))
def test_a_batch_is_full_when_enough_may_run(candidates: list[Candidate], limit: int) -> None:
    runnable = sum(1 for each in candidates if not each.gated)
    assert len(choose(candidates, limit)) == min(limit, runnable)


@given(stretches(), st.integers(1, 30), st.integers(0, 30))
def test_a_cursor_never_passes_a_session_that_was_not_reached(
    candidates: list[Candidate], limit: int, served: int
) -> None:
    ran = choose(candidates, limit)[:served]
    after = cursors(candidates, ran)
    reached = {each.session for each in ran}
    for lane, own in groupby(candidates, key=lambda each: each.lane):
        for each in own:
            if each.session <= after.get(lane, -1):
                assert each.gated or each.session in reached


def test_one_hot_session_does_not_push_the_others_out_of_the_batch() -> None:
    hot = [Candidate(0, 1, number, None) for number in range(100)]
    small = [Candidate(0, session, 1000 + session, None) for session in range(2, 8)]
    chosen = {each.session for each in choose(hot + small, 20)}
    assert chosen == set(range(1, 8))


def test_a_session_shut_at_one_row_is_shut_for_the_whole_batch() -> None:
    rows = [Candidate(0, 1, 1, True), Candidate(0, 1, 2, None)]
    assert choose(rows, 10) == []
