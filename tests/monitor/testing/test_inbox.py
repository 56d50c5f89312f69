"""The authors' harness: the real engine, with faults where a test orders them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group

from monitor.domain.message import Message
from monitor.domain.retry import Retry
from monitor.domain.states import DeadReason, State, Verdict
from monitor.testing import Inbox
from tests.engine import consuming
from tests.rows import one, run


def _group(_payload: Any, message: Message) -> dict[str, str]:
    Group.objects.create(name=message.key)
    return {"key": message.key}


def _groups() -> list[str]:
    return list(Group.objects.order_by("id").values_list("name", flat=True))


def _ours(inbox: Inbox) -> list[str]:
    keys = {each.key for each in inbox.messages()}
    return [name for name in _groups() if name in keys]


def test_a_message_delivered_three_times_takes_effect_once(inbox: Inbox) -> None:
    with consuming(_group):
        receipts = inbox.deliver("test", {"n": 1}, key="a", times=3)
        inbox.run()
        again = inbox.deliver("test", {"n": 1}, key="a")
        inbox.run()
    assert [each.verdict for each in receipts + again] == ["new", *["duplicate"] * 3]
    assert _ours(inbox) == ["a"]
    assert (inbox.state("a"), inbox.result("a"), inbox.starts("a")) == ("done", {"key": "a"}, 1)


def test_another_payload_under_the_same_key_is_a_mismatch(inbox: Inbox) -> None:
    with consuming(_group):
        inbox.deliver("test", {"n": 1}, key="a")
        (second,) = inbox.deliver("test", {"n": 2}, key="a")
        inbox.run()
    assert second.verdict is Verdict.MISMATCH
    assert _ours(inbox) == ["a"]


def test_a_worker_killed_before_its_commit_leaves_nothing_and_the_next_one_does_it(
    inbox: Inbox,
) -> None:
    with consuming(_group):
        for key in ("a", "b", "c"):
            inbox.deliver("test", {}, key=key, session="s")
        inbox.crash_before_commit("b", times=2)
        inbox.run()
    assert (inbox.deaths, inbox.starts("b")) == (2, 3)
    assert _ours(inbox) == ["a", "b", "c"]
    assert {each.state for each in inbox.messages()} == {State.DONE}


def test_a_message_whose_worker_always_dies_is_set_aside_and_its_neighbours_are_not(
    inbox: Inbox,
) -> None:
    with consuming(_group):
        for key in ("a", "b"):
            inbox.deliver("test", {}, key=key, session=key)
        inbox.crash_before_commit("a", times=3)
        inbox.settle()
    assert [(each.key, each.reason) for each in inbox.dead()] == [("a", DeadReason.CRASHED_WORKER)]
    assert _ours(inbox) == ["b"]


def test_a_dead_process_writes_nothing_more(inbox: Inbox) -> None:
    seen: list[int] = []

    def handler(_payload: Any, message: Message) -> None:
        if not seen:
            seen.append(one("SELECT cardinality(ids) FROM comboio_worker WHERE ids <> '{}'"))
        Group.objects.create(name=message.key)

    with consuming(handler):
        inbox.deliver("test", {}, key="a")
        inbox.crash_before_commit()
        assert inbox._process.run(10.0) is None
        assert seen == [1]
        # What it announced stands there: the evidence of its death.
        assert one("SELECT cardinality(ids) FROM comboio_worker WHERE ids <> '{}'") == 1
        assert (one("SELECT count(*) FROM comboio_done"), _ours(inbox)) == (0, [])
        assert inbox.run() > 0
    assert _ours(inbox) == ["a"]


def test_a_retry_waits_until_time_has_passed(inbox: Inbox) -> None:
    def handler(_payload: Any, message: Message) -> None:
        if message.attempt == 1:
            raise ValueError("not yet")
        Group.objects.create(name=message.key)

    with consuming(handler, retry=Retry(limit=3, base_seconds=3600, cap_seconds=3600)):
        inbox.deliver("test", {}, key="a")
        inbox.run()
        assert (inbox.run(), inbox.state("a")) == (0, "waiting")
        inbox.advance(seconds=3600)
        assert (inbox.run(), inbox.state("a")) == (1, "done")


def test_settling_runs_every_retry_to_its_end(inbox: Inbox) -> None:
    def handler(_payload: Any, _message: Message) -> None:
        raise ValueError("never")

    with consuming(handler, retry=Retry(limit=5, base_seconds=600, cap_seconds=600)):
        inbox.deliver("test", {}, key="a")
        inbox.settle()
    (dead,) = inbox.dead()
    assert (dead.reason, dead.error, dead.attempts) == ("poison", "ValueError: never", 5)
    assert inbox.starts("a") >= 5  # the first failure of a batch is looked at once more


def test_settling_ends_where_a_person_must_act(inbox: Inbox) -> None:
    def fails(_payload: Any, _message: Message) -> None:
        raise ValueError("never")

    with consuming(fails, retry=Retry(limit=5, base_seconds=600, cap_seconds=600)):
        inbox.deliver("test", {}, key="a")
        inbox.run()
        run("UPDATE comboio_consumer SET held = true WHERE id > 0")
        inbox.settle()
    assert inbox.state("a") is State.WAITING


def test_letters_arrive_in_another_order_and_run_in_the_order_of_their_arrival(
    inbox: Inbox,
) -> None:
    letters = [inbox.letter("test", {}, key=key, session="s") for key in ("a", "b", "c")]
    with consuming(_group):
        inbox.reorder(*letters)
        inbox.run()
    assert _ours(inbox) == ["c", "b", "a"]


def test_a_shuffle_is_the_same_for_the_same_seed(inbox: Inbox) -> None:
    letters = [inbox.letter("test", {}, key=f"k{number}", session="s") for number in range(8)]
    orders = []
    with consuming(_group):
        for seed in (7, 7, 8):
            inbox.reorder(*letters, seed=seed)
            inbox.run()
            orders.append(_groups()[-8:])
            Group.objects.all().delete()
            one("WITH gone AS (DELETE FROM comboio_dedup RETURNING 1) SELECT count(*) FROM gone")
    assert orders[0] == orders[1] != orders[2]


def test_a_source_finds_key_type_and_session_as_in_production(inbox: Inbox) -> None:
    body = {"id": "p1", "type": "payment", "account": "A", "sequence": 4, "amount_cents": 5}
    letter = inbox.letter("payments", body)
    assert (letter.key, letter.type, letter.session, letter.sequence) == ("p1", "payment", "A", 4)


def test_a_state_that_is_not_the_same_for_all_consumers_wants_a_name(inbox: Inbox) -> None:
    def fails(_payload: Any, _message: Message) -> None:
        raise ValueError("never")

    with consuming(_group, name="one"), consuming(fails, name="two", retry=Retry(limit=1)):
        inbox.deliver("test", {}, key="a")
        inbox.run()
        with pytest.raises(LookupError, match="Name consumer="):
            inbox.state("a")
        assert inbox.state("a", consumer="two") is State.DEAD
    with pytest.raises(LookupError, match="not there"):
        inbox.state("b")


def test_an_ordered_fault_that_never_happened_is_told(inbox: Inbox) -> None:
    inbox.crash_before_commit("nobody")
    (told,) = inbox.faults.left()
    assert told == "crash before the commit of nobody (1 more)"
    inbox.faults.forget()
