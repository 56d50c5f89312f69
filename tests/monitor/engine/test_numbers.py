"""Sessions by sequence number: order, gaps, late arrivals, the end, and what was put back."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group

from monitor.domain.actor import SYSTEM
from monitor.domain.errors import DeadLetter
from monitor.domain.message import Message
from monitor.domain.order import Numbered
from monitor.engine import directory
from monitor.engine.choose import Candidate
from monitor.engine.numbers import admit
from monitor.operations import messages
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import one, rows

pytestmark = pytest.mark.django_db(transaction=True)

NUMBERED = Numbered()


def note(_payload: Any, message: Message) -> None:
    Group.objects.create(name=f"{message.session}/{message.sequence}")


def ran(session: str = "s") -> list[int]:
    names = Group.objects.filter(name__startswith=f"{session}/").order_by("id")
    return [int(each.name.split("/")[1]) for each in names]


def numbers(*given: int, session: str = "s", **more: Any) -> None:
    send(*(delivery(f"{session}-{n}", session=session, sequence=n, **more) for n in given))


def state_of(key: str) -> str:
    states = "SELECT state FROM comboio_message_state JOIN comboio_message USING (id)"
    return str(one(f"{states} WHERE key = '{key}'"))


@pytest.mark.parametrize("external", [False, True])
def test_numbers_run_in_their_order_however_they_arrive(*, external: bool) -> None:
    with consuming(note, numbered=NUMBERED, external=external):
        numbers(3, 1, 5)
        numbers(2)
        drain_all()
        assert ran() == [1, 2, 3]
        numbers(4)
        drain_all()
    assert ran() == [1, 2, 3, 4, 5]


def test_a_gap_stops_only_its_own_session_and_says_what_is_missing() -> None:
    with consuming(note, numbered=NUMBERED):
        numbers(1, 3, 4)
        numbers(1, 2, session="other")
        drain_all()
        assert (ran(), ran("other")) == ([1], [1, 2])
        query = "SELECT next, gap_before, gap_since IS NOT NULL FROM comboio_sequence"
        assert (2, 3, True) in rows(query)
        numbers(2)
        drain_all()
    assert ran() == [1, 2, 3, 4]
    assert one("SELECT count(*) FROM comboio_sequence WHERE gap_since IS NOT NULL") == 0


def test_what_comes_behind_its_number_is_set_aside_as_stale_and_never_runs() -> None:
    with consuming(note, numbered=NUMBERED):
        numbers(1, 2, 3)
        drain_all()
        send(delivery("again", session="s", sequence=2))
        drain_all()
        numbers(4)
        drain_all()
    assert ran() == [1, 2, 3, 4]
    assert rows("SELECT reason, error FROM comboio_dead") == [
        ("stale", "Number 2 came late: its session already expects 4.")
    ]


def test_two_messages_of_one_number_at_once_run_once() -> None:
    with consuming(note, numbered=NUMBERED):
        send(*(delivery(k, session="s", sequence=1) for k in ("a", "b")))
        numbers(2)
        drain_all()
    assert ran() == [1, 2]
    assert rows("SELECT reason FROM comboio_dead") == [("stale",)]


def test_after_the_last_message_of_a_session_everything_is_stale() -> None:
    with consuming(note, numbered=NUMBERED):
        numbers(1)
        send(delivery("end", session="s", sequence=2, is_last=True))
        numbers(3)
        drain_all()
        numbers(4)
        drain_all()
    assert ran() == [1, 2]
    assert [row[0] for row in rows("SELECT reason FROM comboio_dead")] == ["stale", "stale"]


def test_a_message_without_a_number_is_set_aside_when_it_comes() -> None:
    with consuming(note, numbered=NUMBERED):
        send(delivery("k", session="s"))
    assert rows("SELECT reason FROM comboio_dead") == [("malformed",)]


def test_a_message_without_session_needs_no_number() -> None:
    with consuming(note, numbered=NUMBERED):
        send(delivery("k", sequence=7))
        assert drain_all() == 1


@pytest.mark.parametrize("when_dead", ["skip", "hold"])
def test_a_dead_number_leaves_no_gap_and_runs_first_when_put_back(when_dead: str) -> None:
    failing = [2]

    def work(payload: Any, message: Message) -> None:
        if message.sequence in failing:
            raise DeadLetter("not now")
        note(payload, message)

    with consuming(work, numbered=NUMBERED, when_dead=when_dead):
        numbers(1, 2, 3)
        drain_all()
        assert ran() == ([1, 3] if when_dead == "skip" else [1])
        failing.clear()
        ((dead, version),) = rows("SELECT id, version FROM comboio_dead")
        messages.requeue(SYSTEM, dead, seen=version)
        numbers(4)
        drain_all()
    assert ran() == ([1, 3, 2, 4] if when_dead == "skip" else [1, 2, 3, 4])


def test_a_failing_number_keeps_the_ones_behind_it_waiting() -> None:
    attempts: list[int] = []

    def work(payload: Any, message: Message) -> None:
        attempts.append(message.sequence or 0)
        if message.sequence == 1 and message.attempt < 3:
            raise ValueError
        note(payload, message)

    with consuming(work, numbered=NUMBERED):
        numbers(2, 1)
        while drain_all():
            pass
    assert ran() == [1, 2]
    assert attempts.count(2) == 1


def test_messages_that_came_before_the_policy_run_before_the_numbered_ones() -> None:
    with consuming(note):
        send(delivery("old", session="s", sequence=40))
    with consuming(note, numbered=NUMBERED):
        numbers(1)
        directory.forget()  # a worker that starts writes the policy down
        drain_all()
    assert ran() == [40, 1]


def test_a_session_that_waits_for_a_number_does_not_hide_the_rest_of_its_lane() -> None:
    with consuming(note, numbered=NUMBERED):
        send(*(delivery(f"g{n}", session=f"gap{n}", sequence=2) for n in range(600)))
        numbers(1, session="open")
        drain_all()
    assert ran("open") == [1]
    assert state_of("g7") == "ready"


def test_only_what_is_stored_makes_a_number_stale() -> None:
    twin = [Candidate(0, 1, 10, None, number=1), Candidate(0, 1, 11, None, number=1)]
    found = admit(twin, NUMBERED)
    assert ([each.id for each in found.admitted], found.stale) == ([10], [])
