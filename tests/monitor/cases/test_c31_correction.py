"""C31: a dead message and its correction, by a person or its sender; the original has no effect."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.domain.errors import DeadLetter, RefusedError
from monitor.domain.states import Verdict
from monitor.operations import messages, mismatches
from monitor.operations.replaying import replay
from tests.engine import consuming, delivery, drain_all, send
from tests.monitor.operations.scenes import version
from tests.people import CLARA, DORA
from tests.racing import race
from tests.rows import one, rows

pytestmark = pytest.mark.django_db(transaction=True)

WRONG, RIGHT = {"error": True}, {"error": False}


def test_the_correction_takes_effect_once_and_the_original_again_is_a_duplicate() -> None:
    effects: list[Any] = []

    def handle(payload: Any, _message: object) -> None:
        if payload["error"]:
            raise ValueError("poison")
        effects.append(payload)

    with consuming(handle):
        send(delivery("m1", WRONG, session="s"))
        while not one("SELECT count(*) FROM comboio_dead"):
            drain_all()
        send(delivery("m1", RIGHT, session="s"))
        dead, mismatch = one("SELECT id FROM comboio_dead"), one("SELECT id FROM comboio_mismatch")
        mismatches.accept_second(
            CLARA, mismatch, seen=version("comboio_mismatch", mismatch), reason="corrected"
        )
        messages.discard(CLARA, dead, seen=version("comboio_dead", dead), note="was corrected")
        drain_all()
        ((original,),) = send(delivery("m1", WRONG, session="s"))
        drain_all()
    assert effects == [RIGHT]
    assert (original.verdict, original.message_id) == (Verdict.DUPLICATE, dead)
    link = rows("SELECT message_id, accepted_id, verdict_by, verdict_reason FROM comboio_mismatch")
    assert link == [(dead, one("SELECT id FROM comboio_done"), "clara", "corrected")]


def test_of_two_who_decide_at_once_the_second_is_told_of_the_first() -> None:
    def ignore(_payload: object, _message: object) -> None:
        return None

    with consuming(ignore):
        send(delivery("m1", WRONG))
        send(delivery("m1", RIGHT))
    number = one("SELECT id FROM comboio_mismatch")
    seen = version("comboio_mismatch", number)
    outcomes = race(
        lambda: mismatches.accept_second(CLARA, number, seen=seen, reason="clara's"),
        lambda: mismatches.accept_second(DORA, number, seen=seen, reason="dora's"),
    )
    refused = next(each for each in outcomes if isinstance(each, RefusedError))
    assert f"by {one('SELECT verdict_by FROM comboio_mismatch')} at" in str(refused)
    assert one("SELECT count(*) FROM comboio_message") == 2


def test_an_edited_message_runs_once_and_a_second_edit_runs_too() -> None:
    starts: list[Any] = []

    def handle(payload: Any, _message: object) -> None:
        starts.append(payload)
        if payload["error"]:
            raise DeadLetter("poison")

    with consuming(handle):
        send(delivery("m1", WRONG, session="s"))
        drain_all()
        dead = one("SELECT id FROM comboio_dead")
        for text in (b'{"error": "still"}', b'{"error": false}'):
            starts.clear()
            seen = version("comboio_dead", dead)
            replay(CLARA, dead, text, seen=seen, reason="the flag was wrong")
            drain_all()
        assert starts == [RIGHT]
        ((original,),) = send(delivery("m1", WRONG, session="s"))
        drain_all()
    assert starts == [RIGHT]
    assert (original.verdict, original.message_id) == (Verdict.DUPLICATE, dead)
    assert rows("SELECT state FROM comboio_message_state") == [("done",)]
    kept = rows("SELECT revision, payload, actor, at IS NOT NULL FROM comboio_revision ORDER BY 1")
    assert kept == [
        (2, b'{"error": "still"}', "clara", True),
        (3, b'{"error": false}', "clara", True),
    ]
    assert one("SELECT payload FROM comboio_message") == b'{"error":true}'
