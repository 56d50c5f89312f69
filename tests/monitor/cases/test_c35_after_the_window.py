"""C35: what comes again, or is put back, after keys are forgotten; they are kept for 7 days."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from monitor import Call, Effect
from monitor.domain.actor import SYSTEM
from monitor.domain.message import Message
from monitor.domain.retry import Retry
from monitor.operations import messages
from tests import entrance
from tests.engine import consuming, delivery, drain_all, send
from tests.entrance import EVENTS, count_effects, effects, post
from tests.factories import consumer, message
from tests.factory_effects import effect
from tests.monitor.maintenance.aged import age, age_message, is_remembered, is_there, purge
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db(transaction=True)

WEEK = {"dedup_days": 7, "payload_days": 7}


@contextmanager
def shop(**settings: Any) -> Iterator[None]:
    with (
        entrance.configured(retention=WEEK, shop={**EVENTS, **settings}),
        effects("shop"),
    ):
        yield


def sent(days_ago: float = 0, key: str = "e") -> entrance.Answer:
    """The same event, sent now, that its sender dates so many days ago."""
    at = (datetime.now(UTC) - timedelta(days=days_ago)).isoformat()
    event = {"specversion": "1.0", "id": key, "source": "/s", "type": "t", "time": at, "data": 1}
    return post("shop", json.dumps(event).encode(), content_type="application/cloudevents+json")


def counted(name: str) -> float:
    query = "SELECT coalesce(sum(value), 0) FROM comboio_rollup_delta WHERE name = %(name)s"
    return float(one(query, name=name))


def test_c35_done_on_day_0_and_resent_on_day_8_is_dead_and_says_what_to_do() -> None:
    with shop():
        first = sent().body["message"]
        assert count_effects() == 1
        age(8)
        purge()
        assert not is_remembered(first)
        assert sent(days_ago=8).status == 202  # kept, so the sender need not come again
        assert count_effects() == 1
    ((reason, error),) = rows("SELECT reason, error FROM comboio_dead")
    assert reason == "stale"
    assert 'too_old = "accept"' in error
    assert one("SELECT count(*) FROM comboio_alert WHERE kind = 'dead letter'") == 1
    assert counted("accepted_after_window") == 0


def test_c35_by_policy_it_runs_and_is_counted_never_silently() -> None:
    with shop(too_old="accept"):
        sent()
        assert count_effects() == 1
        age(8)
        purge()
        sent(days_ago=8)
        assert count_effects() == 2
    assert counted("accepted_after_window") == 1


def test_c35_inside_the_window_it_is_a_duplicate_also_when_its_payload_is_gone() -> None:
    with entrance.configured(retention={**WEEK, "payload_days": 1}, shop=EVENTS), effects("shop"):
        first = sent().body["message"]
        assert count_effects() == 1
        age(6.9)
        purge()
        assert not is_there(first)
        again = sent(days_ago=6.9)
        assert (again.status, again.outcome, again.body["message"]) == (200, "duplicate", first)
        assert again.body["state"] is None  # it ended, nobody knows any more how
        assert count_effects() == 1
    assert rows("SELECT cause FROM comboio_duplicate") == [("repeated",)]


def test_c35_dead_on_day_0_after_its_effect_and_requeued_on_day_10_has_one_effect() -> None:
    calls: list[str] = []
    is_broken = [True]

    def call(call: Call) -> dict[str, int]:
        calls.append(call.key)
        return {"receipt": 1}

    def handle(_payload: Any, message: Message) -> None:
        message.effect("charge", {"cents": 1})
        with message.transaction():
            if is_broken[0]:
                raise ValueError("the handler is broken")

    declared = Effect(name="charge", kind="keyed", call=call)
    policy = {"external": True, "effects": (declared,), "retry": Retry(limit=1)}
    with entrance.configured(retention=WEEK), consuming(handle, **policy):
        ((first,),) = send(delivery("a", session="s"))
        drain_all()
        assert rows("SELECT reason FROM comboio_dead") == [("poison",)]
        age(10)
        purge()
        assert is_remembered(first.message_id)
        ((again,),) = send(delivery("a", session="s"))
        assert again.verdict == "duplicate"
        is_broken[0] = False
        messages.requeue(SYSTEM, first.message_id, seen=one("SELECT version FROM comboio_dead"))
        drain_all()
        purge()
    assert len(calls) == 1
    assert one("SELECT count(*) FROM comboio_done") == 1
    assert is_remembered(first.message_id)


def test_c35_parked_or_held_at_the_end_of_the_window_it_is_still_known() -> None:
    with entrance.configured(retention=WEEK), consuming(lambda _payload, _message: None):
        send(delivery("a", session="s"), delivery("b", session="s"))
        run(
            "INSERT INTO comboio_gate (session, lane, held, held_by)"
            " SELECT session, lane, true, 'anna' FROM comboio_message LIMIT 1"
        )
        age(30)
        purge()
        again = send(delivery("a", session="s"), delivery("b", session="s"))
        assert {receipt.verdict for (receipt,) in again} == {"duplicate"}
        run("DELETE FROM comboio_gate")
        drain_all()
    assert one("SELECT count(*) FROM comboio_done") == 2


def test_c35_after_a_restore_a_command_lists_what_the_backup_does_not_know() -> None:
    own = consumer(name="shop.apply")
    known, done_later, called_later, new = (message(own, state="done") for _ in range(4))
    for each in (known, done_later, called_later):
        age_message(each, 10)
    run("UPDATE comboio_done SET at = now() WHERE id = %(m)s", m=done_later)
    effect(called_later, state="completed", reference="ch_1")
    told = StringIO()
    since = datetime.now(UTC) - timedelta(days=3)
    call_command("keys", since=since.isoformat(), stdout=told)
    lines = [json.loads(line) for line in told.getvalue().splitlines()]
    assert [line["message"] for line in lines] == [done_later, called_later, new]
    first, second, _ = lines
    assert (first["consumer"], first["origin"], first["key"], first["state"]) == (
        "shop.apply",
        "payments",
        f"key-{done_later}",
        "done",
    )
    assert datetime.fromisoformat(first["received_at"]) < since
    assert datetime.fromisoformat(first["done_at"]) > since
    assert [each["reference"] for each in second["effects"]] == ["ch_1"]


def test_c35_the_moment_of_the_backup_needs_its_zone() -> None:
    with pytest.raises(CommandError, match="a time with its zone is needed"):
        call_command("keys", since="2026-01-31T09:30:00")
