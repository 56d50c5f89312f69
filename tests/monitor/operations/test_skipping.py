"""Skip a gap or a head: the session goes on, what was skipped is kept, a click counts once."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group

from monitor.domain.actor import SYSTEM, Actor, Permission
from monitor.domain.errors import DeadLetter, PermissionRefusedError, RefusedError
from monitor.domain.message import Message
from monitor.domain.order import Numbered
from monitor.domain.retry import Retry
from monitor.operations import messages, sessions, skipping
from tests.engine import consuming, delivery, drain_all, send
from tests.racing import race
from tests.rows import one, rows

pytestmark = pytest.mark.django_db(transaction=True)

OPERATOR = Actor(name="op", permissions=frozenset({Permission.VIEW, Permission.OPERATE}))
SLOW = Retry(limit=9, base_seconds=3600, cap_seconds=3600)


def note(payload: Any, message: Message) -> None:
    if payload.get("dies"):
        raise DeadLetter("as it says")
    if payload.get("fails"):
        raise ValueError("not yet")
    Group.objects.create(name=f"ran/{message.sequence or message.key}")


def ran() -> list[str]:
    return [each.name[4:] for each in Group.objects.filter(name__startswith="ran/").order_by("id")]


def numbers(*given: int) -> None:
    send(*(delivery(f"k{n}", session="s", sequence=n) for n in given))


def session() -> int:
    return int(one("SELECT id FROM comboio_session"))


def gate() -> int:
    return int(one("SELECT version FROM comboio_gate"))


def test_a_skipped_gap_lets_the_session_go_on_and_its_number_is_stale_when_it_comes() -> None:
    with consuming(note, numbered=Numbered()):
        numbers(1, 5, 6)
        drain_all()
        done = skipping.skip_gap(SYSTEM, session(), seen=2, reason="never sent")
        assert done.text == (
            "Session “s” of test.apply goes on with number 5, without numbers 2 to 4."
        )
        drain_all()
        numbers(3)
        drain_all()
    assert ran() == ["1", "5", "6"]
    assert rows("SELECT reason FROM comboio_dead") == [("stale",)]
    assert rows("SELECT verb, object_kind, reason FROM comboio_audit") == [
        ("skip gap", "session", "never sent")
    ]


def test_a_gap_that_was_filled_meanwhile_is_not_skipped() -> None:
    with consuming(note, numbered=Numbered()):
        numbers(1, 3)
        drain_all()
        numbers(2)
        drain_all()
        with pytest.raises(RefusedError):
            skipping.skip_gap(SYSTEM, session(), seen=2, reason="x")
    assert ran() == ["1", "2", "3"]
    assert one("SELECT count(*) FROM comboio_audit") == 0


def test_of_two_who_skip_the_same_gap_one_does_and_the_other_is_told() -> None:
    with consuming(note, numbered=Numbered()):
        numbers(1, 3, 5)
        drain_all()
        target = session()
        answers = race(
            *[lambda: skipping.skip_gap(SYSTEM, target, seen=2, reason="x") for _ in range(2)]
        )
        assert sorted(isinstance(each, RefusedError) for each in answers) == [False, True]
        drain_all()
    assert ran() == ["1", "3"], "the next gap was not skipped with it"


def test_a_dead_head_that_is_skipped_stays_dead_and_runs_late_when_requeued() -> None:
    with consuming(note, when_dead="hold"):
        send(delivery("a", {"dies": 1}, session="s"), delivery("b", session="s"))
        drain_all()
        assert ran() == []
        skipping.skip_head(SYSTEM, session(), seen=gate(), reason="later")
        drain_all()
        assert ran() == ["b"]
        ((dead, version),) = rows("SELECT id, version FROM comboio_dead")
        assert "late" in messages.requeue(SYSTEM, dead, seen=version).text
    alert = "SELECT state FROM comboio_alert WHERE kind = 'held session'"
    assert one(alert) == "resolved"


@pytest.mark.parametrize("numbered", [None, Numbered()])
def test_a_head_that_waits_for_its_retry_can_be_skipped(numbered: Numbered | None) -> None:
    with consuming(note, retry=SLOW, numbered=numbered):
        send(delivery("a", {"fails": 1}, session="s", sequence=1))
        send(delivery("b", session="s", sequence=2))
        drain_all()
        assert ran() == []
        skipping.skip_head(SYSTEM, session(), seen=gate(), reason="wrong account")
        drain_all()
    assert ran() == ["2"]
    ((reason, error),) = rows("SELECT reason, error FROM comboio_dead")
    assert (reason, error) == ("poison", "Skipped by system after: ValueError: not yet")


def test_a_session_that_a_person_holds_stays_held_when_its_head_is_skipped() -> None:
    with consuming(note, when_dead="hold"):
        send(delivery("a", {"dies": 1}, session="s"), delivery("b", session="s"))
        drain_all()
        sessions.hold(SYSTEM, session(), reason="wait")
        skipping.skip_head(SYSTEM, session(), seen=gate(), reason="later")
        drain_all()
        assert ran() == []
        sessions.resume(SYSTEM, session(), seen=gate())
        drain_all()
    assert ran() == ["b"]


def test_nothing_is_skipped_of_a_session_that_goes_on() -> None:
    with consuming(note):
        send(delivery("a", session="s"))
        drain_all()
        with pytest.raises(RefusedError):
            skipping.skip_head(SYSTEM, session(), seen=0, reason="x")


def test_skipping_wants_a_reason_and_the_permission_to_decide() -> None:
    with consuming(note, numbered=Numbered()):
        numbers(2)
        drain_all()
        for verb in (skipping.skip_gap, skipping.skip_head):
            with pytest.raises(RefusedError):
                verb(SYSTEM, session(), seen=1, reason="  ")
            with pytest.raises(PermissionRefusedError):
                verb(OPERATOR, session(), seen=1, reason="x")
