"""Annotations: deploys, holds and requeues of many, as they stand in the audit and its like."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from monitor.reports import annotation
from monitor.reports.annotation import AnnotationKind
from tests import factories, factory_figures, factory_requeues
from tests.rows import insert, run

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)
HOUR_AGO = NOW - timedelta(hours=1)


def _ago(minutes: float) -> datetime:
    return NOW - timedelta(minutes=minutes)


def _kinds(consumer: int | None = None) -> list[AnnotationKind]:
    return [one.kind for one in annotation.since(HOUR_AGO, consumer=consumer).found]


def test_the_first_release_that_is_known_is_no_deploy() -> None:
    factory_figures.deploy("2026-07-01", _ago(50))
    assert _kinds() == []
    factory_figures.deploy("2026-07-02", _ago(20))
    (found,) = annotation.since(HOUR_AGO).found
    assert (found.kind, found.text, found.before) == ("deploy", "2026-07-02", "2026-07-01")


def test_they_come_in_the_order_of_time_and_only_of_this_time() -> None:
    owner = factories.consumer(name="payments")
    factory_figures.deploy("1", _ago(100))
    factory_figures.deploy("2", _ago(90))
    factory_figures.deploy("3", _ago(10))
    for verb, minutes in (("hold", 40), ("resume", 30), ("hold", 70)):
        factory_figures.audit(verb=verb, kind="consumer", object_id=owner, at=_ago(minutes))
    factory_requeues.requeue(owner)
    run("UPDATE comboio_bulk SET started_at = %(at)s", at=_ago(20))
    assert _kinds() == ["hold", "resume", "requeue", "deploy"]


def test_acts_on_messages_and_sessions_are_no_annotations() -> None:
    factory_figures.audit(verb="hold", kind="session", object_id=1)
    factory_figures.audit(verb="requeue", kind="message", object_id=1)
    assert _kinds() == []


def test_a_hold_that_ends_by_itself_has_an_end() -> None:
    owner = factories.consumer()
    until = {"until": _ago(10).isoformat()}
    factory_figures.audit(verb="hold", kind="consumer", object_id=owner, at=_ago(90), detail=until)
    (found,) = annotation.since(HOUR_AGO).found
    assert (found.kind, found.actor, found.at) == ("hold ended", "", _ago(10))


def test_a_hold_that_was_resumed_before_or_still_lasts_has_none() -> None:
    early, late = factories.consumer(), factories.consumer()
    act = {"kind": "consumer", "verb": "hold", "at": _ago(30)}
    factory_figures.audit(object_id=early, **act, detail={"until": _ago(10).isoformat()})
    factory_figures.audit(kind="consumer", verb="resume", object_id=early, at=_ago(20))
    factory_figures.audit(object_id=late, **act, detail={"until": _ago(-60).isoformat()})
    assert _kinds() == ["hold", "hold", "resume"]


def test_a_consumer_has_its_own_acts_and_the_deploys() -> None:
    mine, other = factories.consumer(), factories.consumer()
    factory_figures.deploy("1", _ago(50))
    factory_figures.deploy("2", _ago(40))
    factory_figures.audit(verb="hold", kind="consumer", object_id=other, at=_ago(30))
    factory_requeues.requeue(other)
    assert _kinds(mine) == ["deploy"]
    assert _kinds(other) == ["deploy", "hold", "requeue"]


def test_a_requeue_of_a_cause_belongs_to_the_consumers_whose_messages_it_had() -> None:
    mine, other = factories.consumer(), factories.consumer()
    dead = factories.message(mine, state="dead")
    number = insert(
        "comboio_bulk",
        state="done",
        cause="poison: x",
        up_to_version=1,
        actor="anna",
        failure_limit=1,
        total=1,
    )
    factory_requeues.item(number, dead)
    (found,) = annotation.since(HOUR_AGO, consumer=mine).found
    assert (found.kind, found.consumer, found.target_id) == ("requeue", "", number)
    assert _kinds(other) == []


def test_of_very_many_the_newest_are_told() -> None:
    owner = factories.consumer()
    for minute in reversed(range(annotation.MOST + 5)):
        factory_figures.audit(verb="hold", kind="consumer", object_id=owner, at=_ago(minute + 1))
    found = annotation.since(HOUR_AGO)
    assert (len(found.found), found.more) == (annotation.MOST, True)
    assert found.found[-1].at == _ago(1)
