"""Effects as reports: lists and their pages, evidence, states, what a retry would meet."""

from __future__ import annotations

import pytest
from django.db import connection

from monitor.domain.states import State
from monitor.reports import (
    consumers,
    dead_letters,
    effect_rows,
    effects,
    messages,
    overview,
    sessions,
    system,
)
from monitor.reports.effect_values import Recorded
from monitor.reports.problems import ProblemKind
from tests import factories, factory_effects, factory_figures
from tests.rows import one, run

pytestmark = pytest.mark.django_db


def _session(message_id: int) -> int:
    return int(one("SELECT session FROM comboio_message WHERE id = %(id)s", id=message_id))


@pytest.mark.parametrize("show", effects.SHOWN)
def test_pages_of_each_list_have_every_effect_once(show: str) -> None:
    owner = factories.consumer()
    wanted = []
    for at in range(7):
        if show == "doubt":
            wanted.append(factory_effects.in_doubt(owner, session=f"s{at}", seconds_ago=at)[1])
            continue
        number = factories.message(owner, state="done", session=f"s{at}")
        wanted.append(factory_effects.effect(number, state="completed"))
        if show == "conflict":
            factory_effects.conflict(wanted[-1])
    found, cursor, back = [], None, None
    while True:
        page = effects.page(cursor, limit=3, show=show)
        found += [row.id for row in page.rows]
        if page.next is None:
            break
        cursor, back = page.next, page.previous
    assert sorted(found) == sorted(wanted)
    assert len(set(found)) == 7
    assert back is not None
    assert [row.id for row in effects.page(back, limit=3, show=show).rows] == found[:3]
    assert effects.page(show=show, consumer=owner + 1).rows == ()


def test_an_effect_has_its_evidence_oldest_first() -> None:
    _message, number = factory_effects.in_doubt(factories.consumer())
    factory_effects.evidence(number, verdict="not done", detail={"status": 404, "empty": ""})
    found = effects.detail(number)
    assert found is not None
    assert [one.verdict for one in found.evidence] == ["cannot tell", "not done"]
    assert found.row.evidence is not None
    assert found.row.evidence.detail == (("status", "404"),)
    assert (found.message_state, found.row.probes) == (State.IN_DOUBT, 1)
    assert effects.detail(number + 1) is None
    assert effects.detail(2**70) is None


def test_numbers_in_requests_and_evidence_stay_exact() -> None:
    number = factory_effects.effect(
        factories.message(factories.consumer()), request={"amount": 12345678901234567890}
    )
    run(
        "INSERT INTO comboio_evidence (effect_id, source, verdict, detail) VALUES"
        " (%(id)s, 'probe', 'done', '{\"amount\": 0.10000000000000000001}')",
        id=number,
    )
    found = effects.detail(number)
    assert found is not None
    assert "12345678901234567890" in found.request
    assert found.evidence[0].detail == (("amount", "0.10000000000000000001"),)


def test_a_message_in_doubt_parks_what_is_behind_it_and_nothing_else() -> None:
    owner = factories.consumer()
    doubted, _effect = factory_effects.in_doubt(owner, session="a")
    behind, other = factories.message(owner, session="a"), factories.message(owner, session="b")
    for number, state, parked in (
        (doubted, State.IN_DOUBT, False),
        (behind, State.READY, True),
        (other, State.READY, False),
    ):
        found = messages.detail(number)
        assert found is not None
        assert (found.row.state, found.row.parked) == (state, parked)
    listed = messages.page(state=State.IN_DOUBT)
    assert [row.id for row in listed.rows] == [doubted]


def test_a_live_lease_makes_its_message_run() -> None:
    number = factories.message(factories.consumer())
    factory_effects.lease(number)
    assert [row.id for row in messages.page(state=State.RUNNING).rows] == [number]
    assert messages.page(state=State.READY).rows == ()
    run("UPDATE comboio_lease SET expires_at = now() - interval '1 second'")
    assert [row.id for row in messages.page(state=State.READY).rows] == [number]
    detail = sessions.detail(_session(number))
    assert detail is not None
    assert detail.lease is not None
    assert (detail.lease.message_id, detail.lease.is_live) == (number, False)


@pytest.mark.parametrize("with_followers", [True, False])
@pytest.mark.parametrize("with_snapshot", [True, False])
def test_a_session_in_doubt_is_listed_as_blocked_once(
    with_followers: bool, with_snapshot: bool
) -> None:
    owner = factories.consumer()
    doubted, effect = factory_effects.in_doubt(owner, session="a")
    if with_followers:
        factories.message(owner, session="a")
    if with_snapshot:
        factory_figures.snapshot()
    ((row),) = sessions.page(blocked=True).page.rows
    assert (row.blocker, row.reason, row.head, row.effect_id) == (
        "in doubt",
        "charge",
        doubted,
        effect,
    )


def test_a_doubt_without_session_is_in_no_list_of_sessions() -> None:
    factory_effects.in_doubt(factories.consumer(), session="")
    factory_figures.snapshot()
    assert sessions.page().page.rows == ()


def test_a_snapshot_counts_a_doubted_session_as_held_and_what_follows_as_parked() -> None:
    owner = factories.consumer(name="charge")
    factory_effects.in_doubt(owner, session="a")
    factory_effects.in_doubt(owner, session="b")
    for session in ("a", "a", "c"):
        factories.message(owner, session=session)
    factory_figures.snapshot()
    row = next(each for each in consumers.every() if each.id == owner)
    assert (row.backlog, row.parked, row.held_sessions, row.in_doubt) == (3, 2, 2, 2)
    assert row.state == "blocked"


def test_a_session_held_for_two_reasons_is_counted_once() -> None:
    owner = factories.consumer()
    doubted, _effect = factory_effects.in_doubt(owner, session="a")
    factories.message(owner, session="a")
    factories.gate(_session(doubted), held_by="anna")
    factory_figures.snapshot()
    row = next(each for each in consumers.every() if each.id == owner)
    assert (row.parked, row.held_sessions) == (1, 1)
    assert len(sessions.page().page.rows) == 1


def test_the_books_balance_with_a_message_in_doubt() -> None:
    owner = factories.consumer()
    factory_effects.in_doubt(owner)
    factory_figures.counters(owner, name="received", label="new", value=1)
    books = system.read().books
    assert (books.in_doubt, books.balanced) == (1, True)


def test_doubts_are_one_problem_per_consumer_and_one_of_them_can_be_asked_for() -> None:
    owner = factories.consumer()
    _doubted, first = factory_effects.in_doubt(owner, session="a", seconds_ago=90)
    found = _problem(ProblemKind.IN_DOUBT)
    assert (found.verb, found.target_id, found.count) == ("ask", first, 1)
    factory_effects.in_doubt(owner, session="b", kind="neither", seconds_ago=30)
    found = _problem(ProblemKind.IN_DOUBT)
    assert (found.verb, found.target_id, found.count) == ("ask_all", first, 2)


def test_a_doubt_that_nobody_can_ask_about_offers_no_asking() -> None:
    factory_effects.in_doubt(factories.consumer(), kind="neither")
    assert _problem(ProblemKind.IN_DOUBT).verb == "open"


def test_a_conflict_is_a_problem_until_its_alert_is_acknowledged() -> None:
    number = factory_effects.effect(
        factories.message(factories.consumer(), state="done"), state="completed"
    )
    factory_effects.conflict(number)
    assert _problem(ProblemKind.CONFLICT).target_id == number
    run("UPDATE comboio_alert SET state = 'acknowledged', acknowledged_by = 'anna'")
    assert ProblemKind.CONFLICT not in {each.kind for each in overview.read().problems}


@pytest.mark.parametrize(
    ("state", "step", "wanted"),
    [
        ("completed", "answered", (1, 0, 0)),
        ("in doubt", "no answer", (0, 1, 0)),
        ("in progress", "called", (0, 1, 0)),
        ("in progress", "not done", (0, 0, 1)),
        ("failed", "refused", (0, 0, 1)),
    ],
)
def test_a_retry_meets_what_is_recorded(
    state: str, step: str, wanted: tuple[int, int, int]
) -> None:
    owner = factories.consumer()
    number, other = (factories.message(owner, state="dead", session=each) for each in "ab")
    factory_effects.effect(number, state=state, last_step=step)
    with connection.cursor() as cursor:
        found = effect_rows.recorded(cursor, [number, other])
    assert set(found) == {number}
    assert _counts(found[number]) == wanted
    group = dead_letters.groups()[0]
    assert group.recorded is not None
    assert _counts(group.recorded) == wanted
    rows = {row.id: row.recorded for row in dead_letters.page().rows}
    assert rows[other] is None


def _counts(found: Recorded) -> tuple[int, int, int]:
    return (found.completed, found.unknown, found.without)


def _problem(kind: ProblemKind) -> overview.Problem:
    return next(each for each in overview.read().problems if each.kind is kind)
