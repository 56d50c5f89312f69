"""Replay: a corrected message keeps its identity and place, and the first text is not lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import Group

from monitor.domain.actor import SYSTEM
from monitor.domain.errors import DeadLetter, RefusedError
from monitor.domain.message import Message
from monitor.domain.order import Numbered
from monitor.operations.replaying import replay
from tests.engine import consuming, delivery, drain_all, send
from tests.racing import race
from tests.rows import one, rows

pytestmark = pytest.mark.django_db(transaction=True)


def note(payload: Any, message: Message) -> None:
    if payload.get("error"):
        raise DeadLetter("error")
    Group.objects.create(name=f"ran/{message.key}/{message.revision}")


def ran() -> list[str]:
    return [each.name[4:] for each in Group.objects.filter(name__startswith="ran/").order_by("id")]


def dead() -> tuple[int, int]:
    ((id_, version),) = rows("SELECT id, version FROM comboio_dead")
    return id_, version


@pytest.mark.parametrize("numbered", [None, Numbered()])
@pytest.mark.parametrize("external", [False, True])
def test_a_corrected_message_runs_at_its_place_and_its_followers_after_it(
    numbered: Numbered | None, *, external: bool
) -> None:
    with consuming(note, when_dead="hold", numbered=numbered, external=external):
        first = delivery("a", {"error": True}, session="s", sequence=1)
        send(first, delivery("b", session="s", sequence=2))
        drain_all()
        assert ran() == []
        id_, version = dead()
        done = replay(SYSTEM, id_, b'{"error": false}', seen=version, reason="flag was wrong")
        assert done.text == f"Message {id_} runs again, corrected (revision 2)."
        drain_all()
        assert ran() == ["a/2", "b/1"]
        ((receipt,),) = send(first)
        assert receipt.verdict == "duplicate", "the sender's own copy is no mismatch"
        drain_all()
    assert ran() == ["a/2", "b/1"]
    assert one("SELECT payload FROM comboio_message ORDER BY id LIMIT 1") == b'{"error":true}'
    assert rows("SELECT revision, payload, actor, reason FROM comboio_revision") == [
        (2, b'{"error": false}', "system", "flag was wrong")
    ]


def test_a_correction_that_fails_too_can_be_corrected_again() -> None:
    with consuming(note):
        send(delivery("a", {"error": True}, session="s"))
        drain_all()
        for text in (b'{"error": 1}', b"{}"):
            id_, version = dead()
            replay(SYSTEM, id_, text, seen=version, reason="again")
            drain_all()
    assert ran() == ["a/3"]
    assert one("SELECT count(*) FROM comboio_revision") == 2
    assert one("SELECT count(*) FROM comboio_audit WHERE verb = 'replay'") == 2


def test_of_two_who_correct_at_once_one_does_and_the_other_is_told_by_whom() -> None:
    with consuming(note):
        send(delivery("a", {"error": True}, session="s"))
        drain_all()
        id_, version = dead()
        answers = race(
            *[
                lambda text=text: replay(SYSTEM, id_, text, seen=version, reason="x")
                for text in (b'{"v": 1}', b'{"v": 2}')
            ]
        )
        refused = [each for each in answers if isinstance(each, RefusedError)]
        assert len(refused) == 1
        assert "corrected and put back by system" in str(refused[0])
        drain_all()
    assert ran() == ["a/2"]
    assert one("SELECT count(*) FROM comboio_revision") == 1


@dataclass
class Order:
    """What the typed handler takes."""

    amount: int


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"{amount: 1}", "no JSON"),
        (b'{"amount": "one"}', "would not take it"),
        (b'{"amount":null}', "would not take it"),
        (b'{"error":true}', "Nothing was changed"),
        (b'{"amount": 1' + b" " * 2**20 + b"}", "at most"),
    ],
)
def test_a_text_that_could_only_fail_is_refused_and_nothing_moves(text: bytes, why: str) -> None:
    def typed(_order: Order, _message: Message) -> None:
        raise DeadLetter("never")

    with consuming(typed, payload=Order):
        send(delivery("a", {"error": True}, session="s"))
        drain_all()
        id_, version = dead()
        with pytest.raises(RefusedError, match=why):
            replay(SYSTEM, id_, text, seen=version, reason="x")
    assert one("SELECT count(*) FROM comboio_dead") == 1
    assert one("SELECT count(*) FROM comboio_revision") == 0


def test_a_raw_text_is_taken_as_it_is() -> None:
    with consuming(note):
        send(delivery("a", {"error": True}, session="s"))
        drain_all()
        id_, version = dead()
        replay(SYSTEM, id_, b"not json", seen=version, reason="try", is_raw=True)
        drain_all()
    assert rows("SELECT reason FROM comboio_dead") == [("malformed",)]
