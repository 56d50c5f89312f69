"""Dead letters, mismatches, alerts, audit and sessions: lists and details."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from monitor.reports import alerts, audit, dead_letters, mismatches, sessions
from tests import factories, factory_figures


def test_dead_letters_page_newest_first_and_filter(db: None) -> None:
    one, two = factories.consumer(), factories.consumer()
    ids = [factories.message(one, state="dead", session=f"s{n}") for n in range(5)]
    other = factories.message(two, state="dead", cause="other: cause", session="")
    first = dead_letters.page(limit=4)
    rest = dead_letters.page(first.next, limit=4)
    assert [row.id for row in [*first.rows, *rest.rows]] == [other, *ids[::-1]]
    assert [row.id for row in dead_letters.page(rest.previous, limit=4).rows] == [
        row.id for row in first.rows
    ]
    assert [row.id for row in dead_letters.page(consumer=two).rows] == [other]
    assert [row.id for row in dead_letters.page(cause="other: cause").rows] == [other]
    session = rest.rows[0].session_id
    assert [row.id for row in dead_letters.page(session=session).rows] == [rest.rows[0].id]
    assert dead_letters.page(cause="a\0b").rows == ()


def test_a_group_counts_its_cause_and_freezes_the_set_by_version(db: None) -> None:
    consumer = factories.consumer(name="payments", when_dead="hold")
    held = factories.message(consumer, state="dead", holds=True)
    last = factories.message(consumer, state="dead", session="s2")
    factories.message(consumer, state="dead", session="s3", cause="rare: cause")
    big, rare = dead_letters.groups()
    assert (big.count, big.sessions_held, big.consumers, big.sample_id) == (
        2,
        1,
        ("payments",),
        last,
    )
    rows = {row.id: row for row in dead_letters.page(cause=big.cause).rows}
    assert big.max_version == max(row.version for row in rows.values())
    assert (rows[held].holds_session, rows[last].holds_session) == (True, False)
    later = factories.message(consumer, state="dead", session="s4")
    found = dead_letters.detail(later)
    assert found is not None
    assert found.version > big.max_version
    assert (rare.count, dead_letters.group("no such cause")) == (1, None)


def test_a_purged_message_keeps_its_dead_letter_readable(db: None) -> None:
    number = factories.message(factories.consumer(), state="dead")
    factories.run("DELETE FROM comboio_message WHERE id = %(id)s", id=number)
    assert [row.id for row in dead_letters.page().rows] == [number]


def test_mismatches_are_open_until_decided(db: None) -> None:
    consumer = factories.consumer()
    first = factories.message(consumer)
    opened = factories.mismatch(first, payload='{"amount":1250}')
    decided = factories.mismatch(first, payload='{"amount":1251}', verdict="keep first")
    assert [row.id for row in mismatches.page().rows] == [opened]
    (row,) = mismatches.page(decided=True).rows
    assert (row.id, row.verdict, row.verdict_by) == (decided, "keep first", "anna")
    assert row.session == "s1"


def test_the_mismatch_detail_names_the_producers_and_the_difference(db: None) -> None:
    consumer = factories.consumer()
    first = factories.message(
        consumer, payload='{"n":9007199254740993}', headers={"a": "1", "b": "2"}
    )
    number = factories.mismatch(
        first, payload='{"n":9007199254740992}', headers={"a": "1", "c": "3"}
    )
    found = mismatches.detail(number)
    assert found is not None
    assert [(each.name, each.first, each.second) for each in found.headers] == [
        ("a", "1", "1"),
        ("b", "2", None),
        ("c", None, "3"),
    ]
    assert found.first.fingerprint != found.second.fingerprint
    assert len(found.first.fingerprint) == len(found.second.fingerprint) == 32
    assert (found.first.count, found.second.count) == (1, 1)
    assert found.gap_seconds is not None
    side_by_side = mismatches.comparison(number)
    assert side_by_side is not None
    assert side_by_side.diff is not None
    (row,) = side_by_side.diff.rows
    assert (row.path, row.first, row.second) == ("n", "9007199254740993", "9007199254740992")


def test_a_mismatch_outlives_its_first_payload(db: None) -> None:
    first = factories.message(factories.consumer())
    number = factories.mismatch(first)
    factories.run("DELETE FROM comboio_message WHERE id = %(id)s", id=first)
    found, side_by_side = mismatches.detail(number), mismatches.comparison(number)
    assert found is not None
    assert side_by_side is not None
    assert (found.gap_seconds, side_by_side.first, side_by_side.diff) == (None, None, None)


def test_alerts_list_by_state_and_the_badge_counts_the_open_ones(db: None) -> None:
    consumer = factories.consumer()
    made = {s: factories.alert(consumer, state=s) for s in ("open", "acknowledged", "resolved")}
    for state, number in made.items():
        (row,) = alerts.page(state=state).rows
        assert (row.id, row.state) == (number, state)
    assert alerts.open_count() == 1
    assert alerts.page(state="open", kind="mismatch").rows == ()
    found = alerts.detail(made["acknowledged"])
    assert found is not None
    assert found.acknowledged_by == "anna"


def test_alerts_page_back_and_forth(db: None) -> None:
    consumer = factories.consumer()
    for state in ("open", "resolved"):
        made = [factories.alert(consumer, state=state) for _ in range(5)]
        first = alerts.page(limit=3, state=state)
        rest = alerts.page(first.next, limit=3, state=state)
        assert [row.id for row in [*first.rows, *rest.rows]] == made[::-1]
        back = alerts.page(rest.previous, limit=3, state=state)
        assert [row.id for row in back.rows] == [row.id for row in first.rows]


def test_the_audit_filters_by_actor_verb_and_object(db: None) -> None:
    one = factory_figures.audit(object_id=7)
    two = factory_figures.audit(actor="bert", verb="discard", object_id=8)
    assert [row.id for row in audit.page().rows] == [two, one]
    assert [row.id for row in audit.page(actor="anna").rows] == [one]
    assert [row.id for row in audit.page(verb="discard").rows] == [two]
    assert [row.id for row in audit.page(thing=("message", 7)).rows] == [one]
    assert audit.page(actor="\0").rows == ()


def test_the_audit_of_a_span_of_time_pages_within_it(db: None) -> None:
    made = [factory_figures.audit() for _ in range(40)]
    factories.run(
        "UPDATE comboio_audit SET at = '2026-07-01 00:00:00+00'::timestamptz"
        " + (id - %(first)s) * interval '1 hour'",
        first=made[0],
    )
    begin = datetime(2026, 7, 1, tzinfo=UTC)
    span: dict[str, Any] = {
        "since": begin + timedelta(hours=5),
        "until": begin + timedelta(hours=12),
    }
    first = audit.page(limit=4, **span)
    rest = audit.page(first.next, limit=4, **span)
    assert [row.id for row in [*first.rows, *rest.rows]] == made[5:12][::-1]
    assert rest.next is None
    back = audit.page(rest.previous, limit=4, **span)
    assert [row.id for row in back.rows] == [row.id for row in first.rows]
    assert [row.id for row in audit.every(since=begin + timedelta(hours=38))] == made[38:][::-1]
    assert [row.id for row in audit.every(until=begin + timedelta(hours=1))] == made[:1]
    assert audit.page(since=begin + timedelta(days=9)).rows == ()
    assert audit.page(until=begin).rows == ()


def test_an_act_whose_id_came_late_is_found_by_its_time(db: None) -> None:
    made = [factory_figures.audit() for _ in range(9)]
    late = "UPDATE comboio_audit SET at = at + %(s)s * interval '1 second' WHERE id = %(i)s"
    for place, number in enumerate(made):
        factories.run(late, s=place * 30 - (40 if place == 5 else 0), i=number)
    (at,) = [row.at for row in audit.page().rows if row.id == made[5]]
    assert made[5] in [row.id for row in audit.page(since=at).rows]
    assert made[5] in [row.id for row in audit.page(until=at + timedelta(seconds=1)).rows]


def test_sessions_list_by_backlog_and_name_their_blocker(db: None) -> None:
    consumer = factories.consumer(when_dead="hold")
    dead = factories.message(consumer, state="dead", holds=True, error="ValueError: broken")
    for _ in range(3):
        factories.message(consumer)
    factories.message(consumer, session="s2", state="waiting", error="Timeout: slow")
    lonely = factories.message(consumer, session="s3", state="dead", holds=True)
    factory_figures.snapshot()
    rows = {row.key: row for row in sessions.page().page.rows}
    assert (rows["s1"].blocker, rows["s1"].head, rows["s1"].backlog) == ("dead head", dead, 3)
    assert rows["s1"].reason == "ValueError: broken"
    assert (rows["s2"].blocker, rows["s3"].head, rows["s3"].backlog) == ("retry", lonely, 0)
    assert {row.key for row in sessions.page(blocked=True).page.rows} == {"s1", "s3"}
    found = sessions.page(limit=1)
    assert found.page.next is not None
    assert sessions.page(found.page.next, limit=1).page.rows[0].key != found.page.rows[0].key
    assert found.snapshot_at is not None


def test_the_session_detail_counts_and_shows_what_stands_round_the_head(db: None) -> None:
    consumer = factories.consumer(when_dead="hold")
    before = factories.message(consumer, state="done")
    dead = factories.message(consumer, state="dead", holds=True)
    after = [factories.message(consumer) for _ in range(3)]
    number = sessions.page().page.rows[0].id
    found = sessions.detail(number)
    assert found is not None
    assert (found.ready, found.dead) == (3, 1)
    assert [row.id for row in found.strip] == [before, dead, *after]
    assert found.head is not None
    assert found.gate is not None
    assert (found.head.id, found.gate.holds) == (dead, True)
    assert found.dead_version > 0
    assert sessions.detail(-1) is None
