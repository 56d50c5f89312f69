"""Requeue of all of one cause: what the page showed, in parts, and the truth about each."""

from __future__ import annotations

import pytest
from django.db import connection

from monitor.domain.errors import RefusedError
from monitor.operations import bulk, messages
from monitor.store import connections
from tests import factories
from tests.monitor.operations.scenes import version
from tests.people import ANNA, CLARA
from tests.rows import one, rows

CAUSE = "poison: no such account"


def _dead(count: int, owner: int | None = None) -> list[int]:
    owner = owner or factories.consumer()
    return [
        factories.message(owner, state="dead", session=f"s{n}", cause=CAUSE) for n in range(count)
    ]


def _newest() -> int:
    return int(one("SELECT max(version) FROM comboio_dead"))


@pytest.mark.django_db
def test_all_of_the_cause_are_ready_and_others_stay_dead() -> None:
    owner = factories.consumer()
    numbers = _dead(12, owner)
    other = factories.message(owner, state="dead", cause="poison: another")
    done = messages.requeue_cause(ANNA, CAUSE, up_to_version=_newest())
    assert (done.text, done.count) == ("12 requeued.", 12)
    assert [row[0] for row in rows("SELECT id FROM comboio_ready ORDER BY id")] == numbers
    assert rows("SELECT id FROM comboio_dead") == [(other,)]
    states = rows("SELECT subject, state FROM comboio_alert ORDER BY subject")
    assert states == [("poison: another", "open"), (CAUSE, "resolved")]


@pytest.mark.django_db
def test_each_message_has_its_audit_row_and_its_line_in_the_timeline() -> None:
    numbers = [(number,) for number in _dead(3)]
    messages.requeue_cause(ANNA, CAUSE, up_to_version=_newest())
    assert rows("SELECT object_id FROM comboio_audit WHERE verb = 'requeue' ORDER BY 1") == numbers
    told = rows("SELECT message_id FROM comboio_event WHERE kind = 'requeue' ORDER BY 1")
    assert told == numbers
    assert one("SELECT sum(value) FROM comboio_rollup_delta WHERE label = 'requeue'") == 3


@pytest.mark.django_db
def test_one_that_died_after_the_page_was_made_is_not_touched() -> None:
    owner = factories.consumer()
    _dead(2, owner)
    seen = _newest()
    late = factories.message(owner, state="dead", session="late", cause=CAUSE)
    assert messages.requeue_cause(ANNA, CAUSE, up_to_version=seen).count == 2
    assert rows("SELECT id FROM comboio_dead") == [(late,)]
    assert one("SELECT state FROM comboio_alert") == "open"


@pytest.mark.django_db
def test_those_that_a_colleague_took_meanwhile_are_counted_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers = _dead(5)
    seen = _newest()
    found = bulk.requeues.of_cause(connection.cursor(), CAUSE, up_to_version=seen, limit=10)
    for number in numbers[:2]:
        messages.discard(CLARA, number, seen=version("comboio_dead", number))
    # As if the colleague had acted between the reading of the list and the first part.
    monkeypatch.setattr(bulk.requeues, "of_cause", lambda *_, **__: found)
    done = messages.requeue_cause(ANNA, CAUSE, up_to_version=seen)
    assert done.text == "3 requeued, 2 were no longer dead."
    assert done.count == 3


@pytest.mark.django_db
def test_a_second_click_finds_nothing_left() -> None:
    _dead(2)
    seen = _newest()
    messages.requeue_cause(ANNA, CAUSE, up_to_version=seen)
    with pytest.raises(RefusedError, match="No message of this cause is dead any more"):
        messages.requeue_cause(ANNA, CAUSE, up_to_version=seen)


@pytest.mark.django_db
def test_a_call_has_a_ceiling_and_says_that_more_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "MOST", 4)
    monkeypatch.setattr(bulk, "CHUNK", 3)
    _dead(5)
    done = messages.requeue_cause(ANNA, CAUSE, up_to_version=_newest())
    assert done.text == "4 requeued, more are left, requeue again."
    assert one("SELECT count(*) FROM comboio_dead") == 1


@pytest.mark.django_db(transaction=True)
def test_messages_of_a_busy_session_are_reported_and_the_others_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bulk, "BUSY_LOCK_SECONDS", 0.05)
    numbers = _dead(10)
    with connections.connect() as worker:
        worker.execute(
            "SELECT 1 FROM comboio_lane WHERE lane ="
            " (SELECT lane FROM comboio_message WHERE id = %s) FOR UPDATE",
            [numbers[0]],
        )
        done = messages.requeue_cause(ANNA, CAUSE, up_to_version=_newest())
    stuck = one("SELECT count(*) FROM comboio_dead")
    assert done.count == 10 - stuck > 0
    assert "busy" in done.text
    assert one("SELECT count(*) FROM comboio_audit") == done.count


@pytest.mark.django_db(transaction=True)
def test_what_was_done_before_a_failure_stays_and_is_audited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bulk, "CHUNK", 2)
    _dead(6)
    put_back, parts = bulk.put_back, []

    def fail_at_the_third(*args: object) -> object:
        parts.append(1)
        if len(parts) == 3:
            raise RuntimeError("the power went")
        return put_back(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(bulk, "put_back", fail_at_the_third)
    with pytest.raises(RuntimeError):
        messages.requeue_cause(ANNA, CAUSE, up_to_version=_newest())
    assert one("SELECT count(*) FROM comboio_ready") == 4
    assert one("SELECT count(*) FROM comboio_audit") == 4
    assert one("SELECT count(*) FROM comboio_dead") == 2


@pytest.mark.django_db
def test_sessions_that_they_held_are_open() -> None:
    owner = factories.consumer(when_dead="hold")
    for session in ("a", "b"):
        factories.message(owner, state="dead", session=session, cause=CAUSE, holds=True)
    messages.requeue_cause(ANNA, CAUSE, up_to_version=_newest())
    assert rows("SELECT * FROM comboio_gate") == []
    assert rows("SELECT DISTINCT state FROM comboio_alert") == [("resolved",)]
