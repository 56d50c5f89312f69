"""What people say of a group: it outlives the alerts, and of two people one is first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model

from monitor.domain.errors import RefusedError
from monitor.domain.retry import Retry
from monitor.domain.triage import GroupState
from monitor.operations import bulk
from monitor.operations import triage as verbs
from monitor.reports import people, triage, triage_members
from tests import factories, factory_triage
from tests.engine import consuming, delivery, drain_all, send
from tests.people import ANNA, BERT
from tests.racing import race
from tests.rows import rows, run

pytestmark = pytest.mark.django_db


def _later(**more: float) -> datetime:
    return datetime.now(UTC) + timedelta(**more)


def _user(name: str, group: str | None) -> None:
    made = get_user_model().objects.create_user(name)
    if group:
        made.groups.add(apps.get_model("auth", "Group").objects.get(name=group))


def test_it_is_said_of_the_group_whichever_of_its_alerts_is_named() -> None:
    owner = factories.consumer()
    first, second = factory_triage.alert(owner), factory_triage.alert(owner)
    verbs.take(ANNA, first, seen=0)
    found = triage.detail(second)
    assert found is not None
    verbs.write_note(BERT, second, seen=found.version, note="the gateway")
    found = triage.detail(first)
    assert found is not None
    assert (found.owner, found.note, found.noted_by) == ("anna", "the gateway", "bert")


def test_owner_and_note_stay_when_it_is_resolved_and_comes_back() -> None:
    owner = factories.consumer()
    number = factory_triage.alert(owner)
    verbs.take(ANNA, number, seen=0)
    run("UPDATE comboio_triage SET owned_at = now() - interval '2 h'")
    run(
        "UPDATE comboio_alert SET state = 'resolved', first_at = now() - interval '3 h',"
        " resolved_at = now() - interval '1 h'"
    )
    again = factory_triage.alert(owner, first=0.1)
    found = triage.detail(again)
    assert found is not None
    assert (found.state, found.owner) == (GroupState.REGRESSED, "anna")


def test_taking_a_regressed_group_again_makes_it_ongoing() -> None:
    owner = factories.consumer()
    factory_triage.said(owner, owner="anna", ago=5)
    number = factory_triage.alert(owner)
    found = triage.detail(number)
    assert found is not None
    verbs.take(ANNA, number, seen=found.version)
    found = triage.detail(number)
    assert found is not None
    assert found.state is GroupState.ONGOING


def test_words_without_the_version_that_was_seen_are_refused() -> None:
    number = factory_triage.alert(factories.consumer())
    with pytest.raises(RefusedError, match="changed since this page was made"):
        verbs.take(ANNA, number, seen=-1)
    assert rows("SELECT id FROM comboio_triage") == []


def test_a_time_that_is_over_or_far_away_is_refused() -> None:
    number = factory_triage.alert(factories.consumer())
    for until in (None, datetime.now(UTC)):
        with pytest.raises(RefusedError, match="a time to come"):
            verbs.snooze(ANNA, number, seen=0, until=until)
    with pytest.raises(RefusedError, match="At most 92 days"):
        verbs.snooze(ANNA, number, seen=0, until=_later(days=93))


def test_what_is_resolved_cannot_be_snoozed() -> None:
    number = factory_triage.alert(factories.consumer(), resolved=1)
    with pytest.raises(RefusedError, match="resolved: its cause is gone"):
        verbs.snooze(ANNA, number, seen=0, until=_later(hours=1))


def test_a_snooze_that_is_over_cannot_be_ended() -> None:
    owner = factories.consumer()
    number = factory_triage.alert(owner)
    factory_triage.said(owner, snoozed_for=-1)
    found = triage.detail(number)
    assert found is not None
    with pytest.raises(RefusedError, match="does not sleep"):
        verbs.wake(ANNA, number, seen=found.version)


def test_a_note_that_cannot_be_kept_is_refused() -> None:
    number = factory_triage.alert(factories.consumer())
    with pytest.raises(RefusedError, match="at most 1000"):
        verbs.write_note(ANNA, number, seen=0, note="x" * 1001)


def test_an_unknown_alert_is_refused() -> None:
    with pytest.raises(RefusedError, match="no alert 4711"):
        verbs.take(ANNA, 4711, seen=0)


def test_it_can_be_given_to_whoever_may_operate_and_to_nobody_else() -> None:
    _user("olga", "operator")
    _user("victor", "viewer")
    _user("nobody", None)
    number = factory_triage.alert(factories.consumer())
    assert people.operators() == ("olga",)
    for name in ("victor", "nobody", "unknown"):
        with pytest.raises(RefusedError, match="not a user who may operate"):
            verbs.give(ANNA, number, seen=0, owner=name)
    verbs.give(ANNA, number, seen=0, owner="olga")
    found = triage.detail(number)
    assert found is not None
    assert (found.owner, found.state) == ("olga", GroupState.ONGOING)


@pytest.mark.django_db(transaction=True)
def test_sessions_held_by_one_failure_are_one_group_whose_owner_survives_a_retry() -> None:
    with consuming(_fails, when_dead="hold", retry=Retry(limit=1)):
        send(*[delivery(f"order-{n}", session=f"s{n}") for n in range(3)])
        drain_all()
        found = {group.kind: group for group in triage.page().rows}
        assert found["held session"].members == 3
        dead = found["dead letter"]
        assert dead.dead is not None
        assert dead.dead.count == 3
        assert dead.cause == found["held session"].cause
        why = triage_members.why(dead.key)
        assert why is not None
        assert (why.same, why.looked) == (3, 3)
        assert [each.rpartition(".")[2] for each in why.own] == ["_fails"]
        verbs.take(ANNA, dead.id, seen=0)
        bulk.requeue_cause(ANNA, dead.cause, up_to_version=dead.dead.max_version)
        assert triage.page().rows == ()
        drain_all()
    (again,) = triage.page(kind="dead letter").rows
    assert (again.state, again.owner, again.key) == (GroupState.REGRESSED, "anna", dead.key)
    assert again.id != dead.id


def _fails(_payload: object, message: Any) -> None:
    raise ValueError(f"no account for '{message.key}'")


@pytest.mark.django_db(transaction=True)
def test_of_two_people_who_say_the_first_word_at_once_one_wins() -> None:
    for _ in range(10):
        number = factory_triage.alert(factories.consumer())
        outcomes = race(
            lambda: verbs.take(ANNA, number, seen=0),  # noqa: B023
            lambda: verbs.take(BERT, number, seen=0),  # noqa: B023
        )
        refused = [each for each in outcomes if isinstance(each, RefusedError)]
        assert len(refused) == 1
        found = triage.detail(number)
        assert found is not None
        assert f"changed by {found.owner} at" in str(refused[0])
