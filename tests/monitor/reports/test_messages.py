"""Finding, listing and telling everything about messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from monitor.domain.states import State
from monitor.reports import messages
from monitor.reports.errors import CursorError
from monitor.reports.page import Page
from tests import factories, factory_figures


def test_pages_forward_and_back_show_each_message_once_newest_first(db: None) -> None:
    consumer = factories.consumer()
    ids = [factories.message(consumer, session="") for _ in range(7)]
    first = messages.page(limit=3)
    second = messages.page(first.next, limit=3)
    third = messages.page(second.next, limit=3)
    assert _ids(first) + _ids(second) + _ids(third) == ids[::-1]
    assert (first.previous, third.next) == (None, None)
    assert _ids(messages.page(third.previous, limit=3)) == _ids(second)
    back = messages.page(second.previous, limit=3)
    assert _ids(back) == _ids(first)
    assert back.previous is None


def test_a_list_of_the_same_microsecond_loses_no_row(db: None) -> None:
    consumer, now = factories.consumer(), datetime.now(UTC)
    ids = {factories.message(consumer, session="", received_at=now) for _ in range(5)}
    first = messages.page(limit=2)
    second = messages.page(first.next, limit=2)
    assert {*_ids(first), *_ids(second), *_ids(messages.page(second.next, limit=2))} == ids


@pytest.mark.parametrize("state", ["ready", "waiting", "dead", "done", "discarded"])
def test_each_state_lists_exactly_its_messages(db: None, state: str) -> None:
    consumer = factories.consumer()
    made = {
        each: factories.message(consumer, state=each, session=f"s-{each}")
        for each in ("ready", "waiting", "dead", "done", "discarded")
    }
    found = messages.page(state=State(state), consumer=consumer)
    assert [(row.id, row.state) for row in found.rows] == [(made[state], State(state))]
    assert not found.partial


def test_an_announced_message_of_a_live_worker_is_running(db: None) -> None:
    consumer = factories.consumer()
    running, left_behind = factories.message(consumer), factories.message(consumer, session="s2")
    factory_figures.worker(ids=[running])
    factory_figures.worker(ids=[left_behind], seconds_ago=60)
    assert _ids(messages.page(state=State.RUNNING)) == [running]
    assert _ids(messages.page(state=State.READY)) == [left_behind]
    assert {row.id: row.state for row in messages.page().rows} == {
        running: State.RUNNING,
        left_behind: State.READY,
    }


def test_a_search_that_stops_at_its_bound_says_so_and_goes_on(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "_WINDOW", 3)
    consumer, other = factories.consumer(), factories.consumer()
    wanted = factories.message(consumer, session="")
    for _ in range(4):
        factories.message(other, session="")
    first = messages.page(consumer=consumer)
    assert (first.rows, first.partial) == ((), True)
    second = messages.page(first.next, consumer=consumer)
    assert (_ids(second), second.partial) == ([wanted], False)


def test_followers_of_a_dead_head_are_parked(db: None) -> None:
    consumer = factories.consumer(when_dead="hold")
    factories.message(consumer, state="dead", holds=True)
    follower = factories.message(consumer)
    row = messages.page(state=State.READY).rows[0]
    assert (row.id, row.parked, row.session) == (follower, True, "s1")


def test_a_message_is_found_by_id_by_key_prefix_and_by_session(db: None) -> None:
    consumer = factories.consumer()
    one = factories.message(consumer, key="order-100%", session="account-7")
    factories.message(consumer, key="order_1000", session="account-8")
    assert [row.id for row in messages.find(str(one)).messages] == [one]
    assert [row.id for row in messages.find("order-").messages] == [one]
    assert [row.id for row in messages.find("order-100%").messages] == [one]
    assert messages.find("order%").messages == ()
    assert [match.key for match in messages.find("account-").sessions] == ["account-7", "account-8"]


@pytest.mark.parametrize("text", ["", "\0", "a\0b", "\ud800", "9" * 400, "٣", "%", "_"])
def test_odd_search_texts_find_nothing_and_break_nothing(db: None, text: str) -> None:
    factories.message(factories.consumer(), key="k")
    assert messages.find(text).messages == ()


@pytest.mark.parametrize("cursor", ["x", "!!!", "YXxhfDE", "é", "YXwxfDI=garbage", "a" * 5000])
def test_a_damaged_cursor_is_refused_in_words(db: None, cursor: str) -> None:
    with pytest.raises(CursorError, match="damaged"):
        messages.page(cursor)


def test_the_detail_tells_the_story_in_order_of_time(db: None) -> None:
    start = datetime.now(UTC) - timedelta(minutes=5)
    consumer = factories.consumer()
    number = factories.message(consumer, state="done", received_at=start, result={"balance": 7})
    factories.duplicate(number, cause="concurrent")
    factories.mismatch(number)
    factory_figures.event(number, kind="failed", attempt=1, detail={"error": "Timeout: slow"})
    factory_figures.event(number, kind="requeue", actor="anna")
    found = _detail(number)
    assert found.timeline[0].kind == "received"
    assert {moment.kind for moment in found.timeline} == {
        "received", "duplicate", "mismatch", "failed", "requeue", "done",
    }  # fmt: skip
    assert [m.at for m in found.timeline] == sorted(m.at for m in found.timeline)
    failed = next(moment for moment in found.timeline if moment.kind == "failed")
    assert (failed.attempt, failed.text) == (1, "Timeout: slow")
    assert (found.duplicates_count, found.mismatches_count) == (1, 1)
    assert found.done is not None
    assert found.done.result == '{\n  "balance": 7\n}'


def test_the_detail_of_a_dead_message_has_the_version_that_its_verbs_name(db: None) -> None:
    consumer = factories.consumer()
    number = factories.message(consumer, state="dead", error="ValueError: no account")
    found = _detail(number)
    assert found.dead is not None
    assert found.version == found.dead.version > 0
    assert (found.row.state, found.dead.error) == (State.DEAD, "ValueError: no account")
    assert _detail(factories.message(consumer, state="discarded")).version > 0


def test_the_neighbours_are_five_before_and_five_after_in_the_session(db: None) -> None:
    consumer = factories.consumer()
    ids = [factories.message(consumer) for _ in range(13)]
    factories.message(consumer, session="other")
    found = _detail(ids[6])
    assert [row.id for row in found.before] == ids[1:6]
    assert [row.id for row in found.after] == ids[7:12]


def test_a_message_accepted_as_second_links_back_to_its_mismatch(db: None) -> None:
    consumer = factories.consumer()
    first = factories.message(consumer, key="order-1", state="done")
    mismatch = factories.mismatch(first, verdict="accept second")
    second = factories.message(consumer, key="order-1~0123456789ab")
    factories.run(
        "UPDATE comboio_mismatch SET accepted_id = %(s)s WHERE id = %(m)s", s=second, m=mismatch
    )
    assert _detail(second).accepted_from == mismatch
    assert _detail(first).accepted_from is None


@pytest.mark.parametrize("number", [0, -1, 2**62, 2**80])
def test_an_unknown_message_is_none(db: None, number: int) -> None:
    assert messages.detail(number) is None


def _detail(number: int) -> messages.Detail:
    found = messages.detail(number)
    assert found is not None
    return found


def _ids(page: Page[Any]) -> list[int]:
    return [row.id for row in page.rows]
