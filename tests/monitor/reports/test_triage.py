"""Groups: alerts of one cause stand together, and their state follows from them and from words."""

from __future__ import annotations

import pytest

from monitor.domain.triage import GroupState
from monitor.reports import alerts, overview, triage, triage_members
from tests import factories, factory_triage
from tests.rows import run

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> int:
    return factories.consumer()


def _state(consumer: int) -> GroupState:
    (group,) = triage.page(consumer=consumer).rows
    assert triage.detail(group.id) == group
    return group.state


def test_alerts_of_one_cause_are_one_group_named_by_the_newest(owner: int) -> None:
    first = factory_triage.alert(owner, raised=2)
    newest = factory_triage.alert(owner, raised=3)
    factory_triage.alert(owner, cause="other")
    factory_triage.alert(owner, kind="gap")
    factory_triage.alert(factories.consumer())
    found = [group for group in triage.page(consumer=owner).rows if group.cause == "cause"]
    held = next(group for group in found if group.kind == "held session")
    assert len(found) == 2
    assert (held.id, held.members, held.raised) == (newest, 2, 5)
    assert triage.detail(first) == held


def test_an_alert_without_a_cause_of_its_own_is_grouped_by_its_subject(owner: int) -> None:
    number = factory_triage.alert(owner, cause=None, subject="poison: x", kind="dead letter")
    found = triage.detail(number)
    assert found is not None
    assert found.cause == "poison: x"


def test_a_consumer_that_heals_by_itself_is_no_group(owner: int) -> None:
    number = factory_triage.alert(owner, kind="throttled consumer")
    assert triage.page().rows == ()
    assert triage.detail(number) is None


def test_what_nobody_has_taken_is_new(owner: int) -> None:
    factory_triage.alert(owner)
    assert _state(owner) is GroupState.NEW
    factory_triage.said(owner, note="looks like the gateway")
    assert _state(owner) is GroupState.NEW


def test_what_somebody_owns_or_acknowledged_is_ongoing(owner: int) -> None:
    factory_triage.alert(owner)
    factory_triage.said(owner, owner="anna")
    assert _state(owner) is GroupState.ONGOING
    other = factories.consumer()
    factory_triage.alert(other, acknowledged_by="bert")
    factory_triage.alert(other)
    assert _state(other) is GroupState.ONGOING


def test_what_was_gone_and_is_there_again_is_regressed(owner: int) -> None:
    factory_triage.alert(owner, first=5, resolved=3)
    factory_triage.alert(owner, first=1)
    assert _state(owner) is GroupState.REGRESSED


def test_a_group_that_never_was_gone_is_not_regressed_when_one_of_it_is_resolved(
    owner: int,
) -> None:
    factory_triage.alert(owner, first=5, resolved=2)
    factory_triage.alert(owner, first=4, resolved=1)
    factory_triage.alert(owner, first=1.5)
    (group,) = triage.page(consumer=owner).rows
    assert (group.state, group.again) == (GroupState.NEW, False)


def test_owner_and_note_survive_and_a_regress_asks_for_somebody_again(owner: int) -> None:
    factory_triage.alert(owner, first=5, resolved=3)
    factory_triage.said(owner, owner="anna", note="the gateway", ago=4)
    factory_triage.alert(owner, first=1)
    (group,) = triage.page(consumer=owner).rows
    assert (group.state, group.owner, group.note) == (GroupState.REGRESSED, "anna", "the gateway")
    run("UPDATE comboio_triage SET owned_at = now()")
    assert _state(owner) is GroupState.ONGOING


def test_words_from_before_tell_of_a_regress_when_its_alerts_are_forgotten(owner: int) -> None:
    factory_triage.said(owner, owner="anna", ago=400)
    factory_triage.alert(owner, first=1)
    assert _state(owner) is GroupState.REGRESSED


def test_a_snoozed_group_sleeps_until_its_time(owner: int) -> None:
    factory_triage.alert(owner)
    factory_triage.said(owner, snoozed_for=1)
    assert _state(owner) is GroupState.SNOOZED
    run("UPDATE comboio_triage SET snoozed_until = now()")
    assert _state(owner) is GroupState.NEW


def test_a_snooze_ends_when_the_group_was_gone_and_comes_back(owner: int) -> None:
    factory_triage.alert(owner, first=9, resolved=3)
    factory_triage.said(owner, snoozed_for=5, ago=4)
    factory_triage.alert(owner, first=1)
    assert _state(owner) is GroupState.REGRESSED


def test_a_snooze_ends_when_it_is_raised_more_than_ten_times_as_often(owner: int) -> None:
    factory_triage.alert(owner, raised=30)
    factory_triage.said(owner, snoozed_for=1, snoozed_raised=3)
    assert _state(owner) is GroupState.SNOOZED
    run("UPDATE comboio_alert SET count = 31")
    assert _state(owner) is GroupState.NEW


def test_a_group_without_live_alert_is_resolved_and_not_in_the_list_of_the_live(
    owner: int,
) -> None:
    number = factory_triage.alert(owner, first=5, resolved=3)
    factory_triage.said(owner, owner="anna", snoozed_for=1, ago=4)
    assert triage.page().rows == ()
    (group,) = triage.page(state=GroupState.RESOLVED).rows
    assert (group.state, group.owner) == (GroupState.RESOLVED, "anna")
    assert triage.detail(number) == group
    factory_triage.alert(owner)
    assert triage.page(state=GroupState.RESOLVED).rows == ()


def test_what_needs_somebody_comes_first_and_what_sleeps_last(owner: int) -> None:
    for cause, ago in (("new", 3.0), ("ongoing", 2.0), ("snoozed", 1.0), ("back", 4.0)):
        factory_triage.alert(owner, cause=cause, first=ago)
    factory_triage.alert(owner, cause="back", first=9, resolved=8)
    factory_triage.said(owner, cause="ongoing", owner="anna")
    factory_triage.said(owner, cause="snoozed", snoozed_for=1)
    states = [group.state for group in triage.page().rows]
    assert set(states[:2]) == {GroupState.NEW, GroupState.REGRESSED}
    assert states[2:] == [GroupState.ONGOING, GroupState.SNOOZED]
    assert triage.calling() == 2


def test_pages_of_groups_go_forth_and_back_without_loss(owner: int) -> None:
    for number in range(7):
        factory_triage.alert(owner, cause=f"cause-{number}")
    factory_triage.said(owner, cause="cause-3", owner="anna")
    seen, cursor = [], None
    while True:
        found = triage.page(cursor, limit=3)
        seen += [group.cause for group in found.rows]
        cursor = found.next
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 7
    assert seen[-1] == "cause-3"
    back = triage.page(found.previous, limit=3)
    assert [group.cause for group in back.rows] == seen[3:6]


def test_filters_narrow_by_state_kind_consumer_and_owner(owner: int) -> None:
    factory_triage.alert(owner, cause="mine")
    factory_triage.said(owner, cause="mine", owner="anna")
    factory_triage.alert(owner, kind="gap", cause="gap")
    factory_triage.alert(factories.consumer(), kind="mismatch")
    assert [each.cause for each in triage.page(owner="anna").rows] == ["mine"]
    assert [each.cause for each in triage.page(kind="gap").rows] == ["gap"]
    assert [each.cause for each in triage.page(state=GroupState.ONGOING).rows] == ["mine"]
    assert len(triage.page(consumer=owner).rows) == 2
    assert triage.page(kind="\0").rows == ()


def test_a_group_of_dead_letters_counts_what_is_dead_of_its_consumer(owner: int) -> None:
    for number in range(3):
        factories.message(owner, state="dead", session=f"s{number}")
    factories.message(factories.consumer(), state="dead")
    (group,) = triage.page(consumer=owner).rows
    assert group.dead is not None
    assert group.dead.count == 3
    assert len(triage.of_cause(group.cause)) == 2


def test_a_snoozed_group_is_not_in_the_badge_and_comes_last_on_the_overview(owner: int) -> None:
    factories.message(owner, state="dead", error="ValueError: asleep")
    factories.message(owner, state="dead", error="KeyError: awake", session="other")
    before = alerts.open_count()
    factory_triage.said(
        owner, kind="dead letter", cause="poison: ValueError: asleep", snoozed_for=1
    )
    assert alerts.open_count() == before - 1
    found = overview.read().problems
    asleep = [each.title for each in found if each.snoozed_until is not None]
    assert asleep == ["ValueError: asleep"]
    assert found[-1].title == "ValueError: asleep"
    assert found[-1].snoozed_by == "anna"


def test_a_problem_of_several_groups_sleeps_only_when_all_of_them_do(owner: int) -> None:
    number = factories.message(owner)
    session = factories.keys.session_id(owner, "s1")
    factories.gate(session, held_by="bert")
    factory_triage.alert(owner, subject=str(session), cause="one", target=session)
    factory_triage.alert(owner, cause="two", target=number)
    factory_triage.said(owner, cause="one", snoozed_for=1)
    (problem,) = [each for each in overview.read().problems if each.kind == "held session"]
    assert problem.snoozed_until is None
    factory_triage.said(owner, cause="two", snoozed_for=1)
    (problem,) = [each for each in overview.read().problems if each.kind == "held session"]
    assert problem.snoozed_until is not None


def test_members_are_paged_and_name_the_verb_that_mends_them(owner: int) -> None:
    factories.message(owner, state="dead", holds=True)
    session = factories.keys.session_id(owner, "s1")
    run("UPDATE comboio_alert SET cause = 'c' WHERE kind = 'held session'")
    for number in range(4):
        factory_triage.alert(owner, cause="c", subject=f"x{number}", target=-number - 1)
    group = next(each for each in triage.page(consumer=owner, kind="held session").rows)
    first = triage_members.page(group.key, limit=3)
    rest = triage_members.page(group.key, first.next, limit=3)
    assert [each.verb for each in first.rows] == ["open"] * 3
    assert [(each.verb, each.alert_target) for each in rest.rows] == [
        ("open", -1),
        ("requeue", session),
    ]
    assert triage_members.page(group.key, rest.previous, limit=3).rows == first.rows


def test_each_kind_of_member_has_its_verb(owner: int) -> None:
    done = factories.message(owner, state="done")
    factories.mismatch(done)
    waiting = factories.message(owner, session="s2")
    session = factories.keys.session_id(owner, "s2")
    factories.gate(session, held_by="bert")
    factories.alert(owner, kind="held session", subject=str(session), target=session)
    assert waiting
    found = {group.kind: triage_members.page(group.key).rows[0] for group in triage.page().rows}
    assert found["mismatch"].verb == "keep_first"
    assert (found["held session"].verb, found["held session"].target_kind) == ("resume", "session")
    assert all(each.seen for each in found.values())


def test_why_says_what_was_compared_and_in_how_many_it_is_the_same(owner: int) -> None:
    for number in range(3):
        dead = factories.message(
            owner,
            state="dead",
            session=f"s{number}",
            error=f"no account {number}\nmore of it",
            cause="c",
            type="payment" if number else "refund",
        )
        run("UPDATE comboio_dead SET error_class = 'ValueError'")
        factory_triage.death(dead, '["shop.apply"]' if number else "[]")
    (group,) = triage.page(consumer=owner).rows
    why = triage_members.why(group.key)
    assert why is not None
    assert [(part.text, part.is_variable) for part in why.line] == [
        ("no account ", False),
        ("2", True),
    ]
    assert (why.looked, why.same, why.own, why.more) == (3, 2, ("shop.apply",), "more of it")
    assert (why.types, why.sessions) == ((("payment", 2), ("refund", 1)), 3)
    assert sum(why.per_slot) == 3


def test_there_is_nothing_to_compare_when_none_is_dead_any_more(owner: int) -> None:
    number = factory_triage.alert(owner, kind="dead letter", resolved=0.1)
    group = triage.detail(number)
    assert group is not None
    assert triage_members.why(group.key) is None
