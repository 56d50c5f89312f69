"""Discard and restore: a person decides, and may think better of it."""

from __future__ import annotations

import pytest

from monitor.domain.errors import RefusedError
from monitor.operations import messages
from tests import factories
from tests.monitor.operations.scenes import version
from tests.people import CLARA
from tests.rows import one, rows

pytestmark = pytest.mark.django_db

_KEPT = "consumer, lane, session, reason, error_class, error, cause, attempts"


def _discard(number: int, note: str = "") -> str:
    seen = version("comboio_dead", number)
    return messages.discard(CLARA, number, seen=seen, note=note).text


def _restore(number: int) -> None:
    messages.restore(CLARA, number, seen=version("comboio_discarded", number))


def test_what_died_and_why_is_the_same_after_discard_and_restore() -> None:
    number = factories.message(factories.consumer(), state="dead")
    before = rows(f"SELECT {_KEPT}, at FROM comboio_dead")
    _discard(number, note="sent by mistake")
    assert rows("SELECT discarded_by, note FROM comboio_discarded") == [
        ("clara", "sent by mistake")
    ]
    assert rows(f"SELECT {_KEPT}, dead_at FROM comboio_discarded") == before
    _restore(number)
    assert rows(f"SELECT {_KEPT}, at FROM comboio_dead") == before


def test_the_note_stands_in_the_audit() -> None:
    number = factories.message(factories.consumer(), state="dead")
    _discard(number, note="  sent by mistake\n")
    assert rows("SELECT verb, reason FROM comboio_audit") == [("discard", "sent by mistake")]


def test_discard_of_a_dead_head_opens_its_session_and_says_so() -> None:
    number = factories.message(factories.consumer(when_dead="hold"), state="dead", holds=True)
    assert "its session goes on" in _discard(number)
    assert rows("SELECT * FROM comboio_gate") == []
    assert rows("SELECT DISTINCT state FROM comboio_alert") == [("resolved",)]


def test_restore_holds_no_session_and_opens_the_alert_again() -> None:
    number = factories.message(factories.consumer(when_dead="hold"), state="dead", holds=True)
    _discard(number)
    _restore(number)
    assert rows("SELECT * FROM comboio_gate") == []
    live = rows("SELECT kind, target FROM comboio_alert WHERE state <> 'resolved'")
    assert live == [("dead letter", number)]


def test_a_restored_message_can_be_requeued() -> None:
    number = factories.message(factories.consumer(), state="discarded")
    _restore(number)
    messages.requeue(CLARA, number, seen=version("comboio_dead", number))
    assert rows("SELECT id FROM comboio_ready") == [(number,)]


def test_a_message_that_runs_cannot_be_discarded() -> None:
    number = factories.message(factories.consumer(), state="ready")
    with pytest.raises(RefusedError, match="ready now"):
        messages.discard(CLARA, number, seen=1)
    assert one("SELECT count(*) FROM comboio_ready") == 1


@pytest.mark.parametrize(
    ("note", "why"),
    [("x" * 1001, "1001 characters"), ("a\x00b", "control"), ("a\x1b[31m", "control")],
)
def test_a_note_that_cannot_be_kept_is_refused_in_words(note: str, why: str) -> None:
    number = factories.message(factories.consumer(), state="dead")
    with pytest.raises(RefusedError, match=why):
        _discard(number, note=note)
    assert one("SELECT count(*) FROM comboio_dead") == 1


def test_a_lone_surrogate_in_a_note_is_refused_in_words() -> None:
    number = factories.message(factories.consumer(), state="dead")
    with pytest.raises(RefusedError, match="control"):
        _discard(number, note="\ud800")
