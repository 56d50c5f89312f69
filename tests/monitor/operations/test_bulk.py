"""Requeue of many: what the page showed, in parts, and the truth about each message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest

from monitor.domain.errors import RefusedError, RepeatedClickError
from monitor.domain.retry import Retry
from monitor.domain.scope import Scope
from monitor.operations import bulk, carrying, messages
from monitor.store import connections
from tests import factories
from tests.engine import consuming, delivery, drain_all, send
from tests.monitor.operations.scenes import version
from tests.people import ANNA, BERT, CLARA
from tests.rows import one, rows, run
from tests.waiting import wait_until

CAUSE = "poison: no such account"


def _dead(count: int, owner: int | None = None) -> list[int]:
    owner = owner or factories.consumer()
    return [
        factories.message(owner, state="dead", session=f"s{n}", cause=CAUSE) for n in range(count)
    ]


def _newest() -> int:
    return int(one("SELECT max(version) FROM comboio_dead"))


def _start(**chosen: object) -> int:
    """Requeue all of the cause; the id of the requeue."""
    done = bulk.start(ANNA, Scope(cause=CAUSE), up_to_version=_newest(), **chosen)  # type: ignore[arg-type]
    assert done.target is not None
    return done.target[1]


def _standing(number: int) -> tuple[str, int, int, int]:
    """State, and how many were moved, processed, failed again."""
    (row,) = rows(
        "SELECT state, moved, processed, failed_again FROM comboio_bulk WHERE id = %(n)s", n=number
    )
    return row


def _come_to(number: int, state: str) -> None:
    """Let workers and clock go on until the requeue has that state."""

    def goes_on() -> bool:
        drain_all()
        carrying.carry_on_all()
        return _standing(number)[0] == state

    wait_until(goes_on, 20, what=state)


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
    carry_on = carrying.carry_on

    def a_colleague_is_faster(*given: object) -> object:
        for number in numbers[:2]:
            messages.discard(CLARA, number, seen=version("comboio_dead", number))
        return carry_on(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(carrying, "carry_on", a_colleague_is_faster)
    done = messages.requeue_cause(ANNA, CAUSE, up_to_version=seen)
    assert done.text == "3 requeued, 2 were no longer dead."
    assert done.count == 3


@pytest.mark.django_db
def test_a_second_click_finds_nothing_left() -> None:
    _dead(2)
    seen = _newest()
    messages.requeue_cause(ANNA, CAUSE, up_to_version=seen)
    with pytest.raises(RefusedError, match="No message of these is dead any more"):
        messages.requeue_cause(ANNA, CAUSE, up_to_version=seen)


@pytest.mark.django_db
def test_the_same_click_again_does_nothing_also_after_it_ended() -> None:
    _dead(2)
    actor = replace(ANNA, click=uuid4())
    messages.requeue_cause(actor, CAUSE, up_to_version=_newest())
    _dead(1)
    with pytest.raises(RepeatedClickError):
        messages.requeue_cause(actor, CAUSE, up_to_version=_newest())
    assert one("SELECT count(*) FROM comboio_dead") == 1


@pytest.mark.django_db
def test_while_one_is_on_its_way_no_other_takes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrying, "CHUNK", 3)
    monkeypatch.setattr(bulk, "CLICK_SECONDS", -1)
    _dead(10)
    number = _start()
    with pytest.raises(RefusedError, match=f"Requeue {number} takes the same dead letters"):
        _start()
    bulk.stop(ANNA, number)
    assert _start() > number


@pytest.mark.django_db
def test_a_requeue_has_a_ceiling_and_the_rest_stays_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bulk, "MOST", 4)
    _dead(5)
    assert messages.requeue_cause(ANNA, CAUSE, up_to_version=_newest()).count == 4
    assert one("SELECT count(*) FROM comboio_dead") == 1


@pytest.mark.django_db(transaction=True)
def test_messages_of_a_busy_session_follow_when_it_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrying, "LOCK_SECONDS", 0.05)
    monkeypatch.setattr(bulk, "CLICK_SECONDS", 0.2)
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
    assert f"{stuck} follow" in done.text
    assert carrying.carry_on_all() == stuck
    assert one("SELECT count(*) FROM comboio_ready") == 10


@pytest.mark.django_db(transaction=True)
def test_what_a_failure_broke_off_is_gone_on_with_and_each_part_is_audited_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(carrying, "CHUNK", 2)
    _dead(6)
    put_back, parts = carrying.put_back, []

    def fail_at_the_third(*args: object) -> object:
        parts.append(1)
        if len(parts) == 3:
            raise RuntimeError("the power went")
        return put_back(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(carrying, "put_back", fail_at_the_third)
    with pytest.raises(RuntimeError):
        messages.requeue_cause(ANNA, CAUSE, up_to_version=_newest())
    requeued = "SELECT count(*) FROM comboio_audit WHERE verb = 'requeue'"
    assert one("SELECT count(*) FROM comboio_ready") == one(requeued) == 4
    assert one("SELECT count(*) FROM comboio_dead") == 2
    assert carrying.carry_on_all() == 2
    assert one("SELECT count(*) FROM comboio_ready") == one(requeued) == 6


@pytest.mark.django_db
def test_no_more_go_than_the_rate_allows() -> None:
    _dead(50)
    number = _start(per_second=10)
    assert _standing(number)[1] < 50
    for _turn in range(2):
        run("UPDATE comboio_bulk SET paced_at = paced_at - interval '1 second'")
        carrying.carry_on_all()
        allowed = "SELECT 10 * extract(epoch FROM clock_timestamp() - paced_at) FROM comboio_bulk"
        assert 0 < _standing(number)[1] <= one(allowed)


def _ok(_payload: object, _message: object) -> None:
    return None


def _fail(_payload: object, _message: object) -> None:
    raise ValueError("no such account")


def _bury(count: int, handler: Callable[..., None] = _fail) -> None:
    """As many dead letters of the cause, of the consumer of the test."""
    with consuming(handler, when_dead="skip"):
        send(*[delivery(f"k{n}", session=f"s{n}") for n in range(count)])
        wait_until(lambda: drain_all() + one("SELECT count(*) FROM comboio_dead") >= count)
    run("UPDATE comboio_dead SET cause = %(cause)s", cause=CAUSE)


@pytest.mark.django_db(transaction=True)
def test_the_canary_goes_alone_and_the_rest_waits_for_a_person() -> None:
    _bury(5)
    with consuming(_ok):
        number = _start(is_canary=True)
        assert _standing(number) == ("canary", 1, 0, 0)
        _come_to(number, "waiting")
        assert _standing(number) == ("waiting", 1, 1, 0)
        assert one("SELECT count(*) FROM comboio_dead") == 4
        bulk.go_on(BERT, number, seen=version("comboio_bulk", number))
        _come_to(number, "done")
        wait_until(lambda: drain_all() + carrying.carry_on_all() == 0)
    assert _standing(number) == ("done", 5, 5, 0)
    assert one("SELECT ended_at IS NOT NULL FROM comboio_bulk")


@pytest.mark.django_db(transaction=True)
def test_a_canary_that_fails_again_stops_it_and_comes_in_no_more() -> None:
    _bury(5)
    with consuming(_fail, when_dead="skip"):
        number = _start(is_canary=True)
        _come_to(number, "stopped")
    assert _standing(number) == ("stopped", 1, 0, 1)
    assert one("SELECT why FROM comboio_bulk") == "the first one failed again"
    assert one("SELECT count(*) FROM comboio_dead") == 5


@pytest.mark.django_db(transaction=True)
def test_too_many_that_fail_again_stop_it_and_it_can_be_told_to_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(carrying, "CHUNK", 12)
    monkeypatch.setattr(bulk, "CLICK_SECONDS", -1)
    monkeypatch.setattr(carrying, "TURN_SECONDS", -1)
    _bury(60)
    with consuming(_fail, when_dead="skip"):
        number = _start()
        _come_to(number, "stopped")
        moved = _standing(number)[1]
        assert moved < 60
        assert "failed again, more than 20 %" in one("SELECT why FROM comboio_bulk")
    with consuming(_ok):
        bulk.go_on(ANNA, number, seen=version("comboio_bulk", number))
        _come_to(number, "done")
    assert _standing(number)[1] == 60


@pytest.mark.django_db(transaction=True)
def test_what_fails_again_is_counted_and_never_comes_in_twice() -> None:
    def half(_payload: object, message: object) -> None:
        if int(message.key[1:]) % 2:  # type: ignore[attr-defined]
            raise ValueError("still no such account")

    _bury(20)
    with consuming(half, when_dead="skip", retry=Retry(limit=1)):
        number = _start(failure_limit=1.0)
        _come_to(number, "done")
        wait_until(lambda: drain_all() + carrying.carry_on_all() == 0)
        assert _standing(number) == ("done", 20, 10, 10)
    assert one("SELECT count(*) FROM comboio_audit WHERE verb = 'requeue'") == 20
    assert one("SELECT count(*) FROM comboio_dead") == 10


@pytest.mark.django_db
def test_a_stop_puts_no_more_back_and_says_how_many_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrying, "CHUNK", 3)
    monkeypatch.setattr(bulk, "CLICK_SECONDS", -1)
    _dead(10)
    number = _start()
    assert bulk.stop(BERT, number).text == "Stopped. 7 messages stay dead."
    assert carrying.carry_on_all() == 0
    assert _standing(number)[:2] == ("stopped", 3)
    with pytest.raises(RefusedError, match="does not run"):
        bulk.stop(BERT, number)
    assert [
        row[0] for row in rows("SELECT verb FROM comboio_audit WHERE object_kind = 'bulk'")
    ] == [
        "requeue many",
        "stop",
    ]


@pytest.mark.django_db
def test_who_goes_on_with_what_changed_meanwhile_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(carrying, "CHUNK", 3)
    monkeypatch.setattr(bulk, "CLICK_SECONDS", -1)
    _dead(10)
    number = _start()
    bulk.stop(BERT, number)
    seen = version("comboio_bulk", number)
    bulk.go_on(ANNA, number, seen=seen)
    with pytest.raises(RefusedError, match="reload the page"):
        bulk.go_on(BERT, number, seen=seen)


@pytest.mark.django_db
def test_what_is_removed_before_its_outcome_is_known_is_gone() -> None:
    numbers = _dead(2)
    number = _start()
    run("DELETE FROM comboio_ready WHERE id = %(n)s", n=numbers[0])
    carrying.carry_on_all()
    assert rows("SELECT moved, gone FROM comboio_bulk WHERE id = %(n)s", n=number) == [(1, 1)]


@pytest.mark.django_db
def test_what_ended_long_ago_is_forgotten_and_the_rest_is_not() -> None:
    _dead(2)
    number = _start()
    run("UPDATE comboio_bulk SET ended_at = now() - interval '31 days'")
    _dead(2)
    other = _start()
    with connections.shared_cursor() as cursor:
        assert carrying.forget(cursor) == 3
    assert rows("SELECT id FROM comboio_bulk") == [(other,)]
    assert number not in {row[0] for row in rows("SELECT bulk FROM comboio_bulk_item")}


@pytest.mark.django_db
def test_sessions_that_they_held_are_open() -> None:
    owner = factories.consumer(when_dead="hold")
    for session in ("a", "b"):
        factories.message(owner, state="dead", session=session, cause=CAUSE, holds=True)
    messages.requeue_cause(ANNA, CAUSE, up_to_version=_newest())
    assert rows("SELECT * FROM comboio_gate") == []
    assert rows("SELECT DISTINCT state FROM comboio_alert") == [("resolved",)]
