"""Retention: what goes and what stays. Defaults: payload 7 days, keys 14, audit 400."""

from __future__ import annotations

import pytest

from monitor.domain.actor import SYSTEM
from monitor.domain.errors import RefusedError
from monitor.maintenance import retention
from monitor.operations import effects as effect_verbs
from monitor.operations import messages, mismatches
from monitor.reports import system
from tests import factories, factory_figures, factory_triage
from tests.factory_effects import effect, in_doubt
from tests.monitor.maintenance.aged import age, age_message, is_remembered, is_there, message, purge
from tests.rows import insert, one, rows, run

pytestmark = pytest.mark.django_db

CHILDREN = ("duplicate", "event", "revision", "effect")


@pytest.fixture
def consumer() -> int:
    return factories.consumer()


def counted(what: str) -> float:
    return float(
        one(
            "SELECT coalesce(sum(value), 0) FROM comboio_rollup_delta"
            " WHERE name = 'purged' AND label = %(what)s",
            what=what,
        )
    )


def with_history(consumer: int, days: float, state: str = "done") -> int:
    number = message(consumer, days, state=state)
    factories.duplicate(number)
    run("INSERT INTO comboio_event (message_id, kind) VALUES (%(m)s, 'requeue')", m=number)
    run(
        "INSERT INTO comboio_revision VALUES"
        " (%(m)s, 2, '{}', 'application/json', '\\x00', 1, now(), 'anna', 'typo')",
        m=number,
    )
    own = effect(number, state="completed")
    run(
        "INSERT INTO comboio_evidence (effect_id, source, verdict) VALUES (%(e)s, 'call', 'done')",
        e=own,
    )
    return number


@pytest.mark.parametrize("state", ["done", "discarded"])
def test_an_ended_message_goes_with_its_history_after_payload_days_and_its_key_stays(
    consumer: int, state: str
) -> None:
    old, young = with_history(consumer, 7.1, state), with_history(consumer, 6.9, state)
    assert purge() == 1
    assert (is_there(old), is_there(young)) == (False, True)
    assert rows(f"SELECT id FROM comboio_{state}") == [(young,)]
    for child in CHILDREN:
        assert rows(f"SELECT message_id FROM comboio_{child}") == [(young,)]
    assert one("SELECT count(*) FROM comboio_evidence") == 1
    assert is_remembered(old)
    assert counted("message" if state == "done" else state) == 1


def test_the_books_balance_after_a_purge(consumer: int) -> None:
    for name, label in (("received", "new"), ("received", "new"), ("processed", "done")):
        factory_figures.counters(consumer, name=name, label=label, value=1)
    message(consumer, 30)
    message(consumer, 30, state="discarded")
    assert system.read().books.balanced
    purge()
    assert one("SELECT count(*) FROM comboio_message") == 0
    books = system.read().books
    assert (books.done, books.discarded, books.balanced) == (1, 1, True)


def test_a_key_goes_after_dedup_days_with_what_came_under_it_late(consumer: int) -> None:
    old, young = message(consumer, 14.1), message(consumer, 13.9)
    for each in (old, young):
        factories.duplicate(each)
        factories.mismatch(each, verdict="keep first")
    purge()
    age_message(old, 14.1)  # its mismatch too is old now
    purge()
    assert (is_remembered(old), is_remembered(young)) == (False, True)
    for child in ("duplicate", "mismatch"):
        assert old not in {row[0] for row in rows(f"SELECT message_id FROM comboio_{child}")}
    assert counted("key") == 1


@pytest.mark.parametrize("state", ["ready", "waiting", "dead"])
def test_what_may_still_run_is_never_forgotten(consumer: int, state: str) -> None:
    number = message(consumer, 1000, state=state)
    run("INSERT INTO comboio_event (message_id, kind) VALUES (%(m)s, 'failed')", m=number)
    purge()
    assert is_there(number)
    assert is_remembered(number)
    assert one("SELECT count(*) FROM comboio_event") == 1
    assert one("SELECT count(*) FROM comboio_session") == 1


def test_a_message_in_doubt_a_held_and_a_delayed_one_are_never_forgotten(consumer: int) -> None:
    doubtful, _ = in_doubt(consumer)
    parked = factories.message(consumer, session="held")
    factories.gate(
        one("SELECT session FROM comboio_message WHERE id = %(m)s", m=parked), held_by="anna"
    )
    delayed = factories.message(consumer, state="elsewhere", session="later")
    run(
        "INSERT INTO comboio_waiting SELECT id, consumer, lane, session, NULL, now()"
        " FROM comboio_message WHERE id = %(m)s",
        m=delayed,
    )
    age(1000)
    purge()
    for each in (doubtful, parked, delayed):
        assert is_there(each)
        assert is_remembered(each)
    assert one("SELECT count(*) FROM comboio_session") == 3
    assert one("SELECT count(*) FROM comboio_effect") == 1


def test_a_mismatch_without_verdict_keeps_its_message_and_a_decided_one_only_its_verdict(
    consumer: int,
) -> None:
    open_one, decided = message(consumer, 100), message(consumer, 100)
    kept = factories.mismatch(open_one)
    factories.mismatch(decided, verdict="keep first")
    purge()
    assert (is_there(open_one), is_there(decided)) == (True, False)
    assert dict(rows("SELECT message_id, payload <> '' FROM comboio_mismatch")) == {
        open_one: True,
        decided: False,
    }
    assert is_remembered(decided)  # or the payload that was judged would be new
    mismatches.keep_first(
        SYSTEM,
        kept,
        seen=one("SELECT version FROM comboio_mismatch WHERE verdict IS NULL"),
        reason="",
    )
    purge()
    assert not is_there(open_one)


@pytest.mark.parametrize(
    "disputed",
    [{"state": "in doubt"}, {"state": "in progress"}, {"state": "completed", "conflict": "x"}],
)
def test_an_effect_that_is_open_or_disputed_keeps_its_message(
    consumer: int, disputed: dict[str, str]
) -> None:
    number = message(consumer, 100)
    effect(number, **disputed)  # type: ignore[arg-type]
    effect(number, name="mail", state="completed")
    purge()
    assert is_there(number)
    assert one("SELECT count(*) FROM comboio_effect") == 2


def test_an_open_alert_keeps_the_message_that_it_points_at(consumer: int) -> None:
    number = message(consumer, 100)
    alert = factories.alert(consumer, kind="dead letter", target=number, state="acknowledged")
    purge()
    assert is_there(number)
    run(
        "UPDATE comboio_alert SET state = 'resolved', resolved_at = now() WHERE id = %(a)s", a=alert
    )
    purge()
    assert not is_there(number)


def test_one_that_came_long_ago_and_was_done_lately_stays_and_hides_none_behind_it(
    consumer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "ROWS", 3)
    late = [message(consumer, 30) for _ in range(7)]  # more than a chunk
    run("UPDATE comboio_done SET at = now() - interval '1 day'")
    behind = [message(consumer, 20) for _ in range(7)]
    young = [message(consumer, 1) for _ in range(7)]
    purge()
    assert [row[0] for row in rows("SELECT id FROM comboio_done ORDER BY id")] == late + young
    assert not any(is_there(each) for each in behind)


def test_records_of_people_go_after_their_own_times(consumer: int) -> None:
    for days in (1, 8, 399, 401):
        run(
            "INSERT INTO comboio_audit (at, actor, verb, object_kind, object_id)"
            " VALUES (now() - make_interval(days => %(d)s), 'anna', 'hold', 'session', 1)",
            d=days,
        )
        run(
            "INSERT INTO comboio_operation VALUES"
            " (gen_random_uuid(), 'anna', now() - make_interval(days => %(d)s))",
            d=days,
        )
        for state in ("resolved", "open"):
            number = factories.alert(consumer, state=state)
            run(
                "UPDATE comboio_alert SET resolved_at = resolved_at - make_interval(days => %(d)s),"
                " last_at = last_at - make_interval(days => %(d)s) WHERE id = %(a)s",
                a=number,
                d=days,
            )
    purge()
    found = {
        table: one(f"SELECT count(*) FROM comboio_{table}")
        for table in ("audit", "operation", "alert")
    }
    assert found == {"audit": 3, "operation": 1, "alert": 5}
    assert [counted(what) for what in ("audit", "click", "alert")] == [1, 3, 3]


def test_words_on_a_group_go_when_it_has_no_alert_left_and_they_are_old(consumer: int) -> None:
    for cause, days in (("young", 399), ("old", 401), ("live", 401), ("resolved", 401)):
        factory_triage.said(consumer, cause=cause, note="dns", ago=days * 24)
    factory_triage.alert(consumer, cause="live")
    factory_triage.alert(consumer, cause="resolved", resolved=1)
    purge()
    kept = rows("SELECT cause FROM comboio_triage ORDER BY cause")
    assert kept == [("live",), ("resolved",), ("young",)]
    assert counted("triage") == 1


def test_verbs_on_what_is_gone_are_refused_in_words(consumer: int) -> None:
    number = message(consumer, 30, state="discarded")
    own = message(consumer, 30)
    settled = effect(own, state="completed")
    purge()
    for verb in (messages.requeue, messages.discard, messages.restore):
        with pytest.raises(RefusedError, match=f"There is no message {number}."):
            verb(SYSTEM, number, seen=1)
    with pytest.raises(RefusedError):
        effect_verbs.mark_done(SYSTEM, settled, seen=1, reference="r", reason="")
    late = insert(
        "comboio_mismatch",
        message_id=own,
        consumer=consumer,
        fingerprint=b"1",
        hash_version=1,
        content_type="application/json",
        payload=b"{}",
        headers="{}",
        type="payment",
    )
    with pytest.raises(RefusedError, match="not kept any more"):
        mismatches.accept_second(
            SYSTEM, late, seen=one("SELECT version FROM comboio_mismatch"), reason=""
        )
