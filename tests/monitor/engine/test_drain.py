"""Draining: effects once, in order within a session, whatever the handlers do."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import IntegrityError, connection, transaction

from monitor.domain.errors import DeadLetter, RetryLater, Skip
from monitor.domain.message import Message
from monitor.domain.retry import Retry
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import one, rows, run
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


class Effects:
    """A handler that writes one row for each message and fails as it is told."""

    def __init__(self, failures: dict[str, int] | None = None) -> None:
        self.calls: list[str] = []
        self._failures = Counter(failures or {})

    def __call__(self, _payload: Any, message: Message) -> dict[str, str]:
        self.calls.append(message.key)
        Group.objects.create(name=f"{message.session}/{message.key}")
        if message.attempt <= self._failures[message.key]:
            raise ValueError(f"attempt {message.attempt} of {message.key}")
        return {"key": message.key}


def effects() -> list[str]:
    """What was really committed, in order."""
    return [
        row[0] for row in rows("SELECT name FROM auth_group WHERE name LIKE '%%/%%' ORDER BY id")
    ]


def drain_until_quiet() -> None:
    """Drain until no retry is due any more."""
    wait_until(
        lambda: (
            drain_all() == 0
            and one("SELECT count(*) FROM comboio_gate WHERE retry_at IS NOT NULL") == 0
        ),
        10,
    )


def test_messages_of_a_session_take_effect_once_and_in_order() -> None:
    with consuming(Effects()):
        send(*[delivery(f"m{n}", session=f"s{n % 3}") for n in range(30)])
        drain_all()
    found = effects()
    assert len(found) == 30
    for session in ("s0", "s1", "s2"):
        own = [int(each.split("/m")[1]) for each in found if each.startswith(session)]
        assert own == sorted(own)
    assert one("SELECT count(*) FROM comboio_done") == 30
    assert one("SELECT count(*) FROM comboio_ready") == 0


def test_a_failing_head_holds_its_session_until_its_retry_and_others_go_on() -> None:
    handler = Effects({"m5": 2})
    with consuming(handler):
        send(*[delivery(f"m{n}", session="s1") for n in range(1, 11)])
        send(*[delivery(f"o{n}", session="s2") for n in range(10)])
        drain_until_quiet()
    own = [each for each in effects() if each.startswith("s1/")]
    assert own == [f"s1/m{n}" for n in range(1, 11)]
    assert dict(
        rows(
            "SELECT m.key, d.attempts FROM comboio_done d"
            " JOIN comboio_message m USING (id) WHERE d.attempts > 1"
        )
    ) == {"m5": 3}
    assert one("SELECT count(*) FROM comboio_gate") == 0


def test_a_poison_message_is_set_aside_with_its_error_and_its_session_goes_on() -> None:
    with consuming(Effects({"m3": 99})):
        send(*[delivery(f"m{n}", session="s1") for n in range(1, 7)])
        drain_until_quiet()
    assert effects() == ["s1/m1", "s1/m2", "s1/m4", "s1/m5", "s1/m6"]
    assert rows("SELECT reason, error_class, error, attempts FROM comboio_dead") == [
        ("poison", "ValueError", "attempt 3 of m3", 3)
    ]
    assert one("SELECT count(*) FROM comboio_event WHERE kind = 'failed'") == 2
    assert rows("SELECT kind FROM comboio_alert") == [("dead letter",)]


def test_with_the_policy_hold_the_followers_of_a_dead_head_are_parked() -> None:
    with consuming(Effects({"m3": 99}), when_dead="hold"):
        send(*[delivery(f"m{n}", session="s1") for n in range(1, 7)])
        drain_until_quiet()
        send(delivery("m7", session="s1"), delivery("x", session="s2"))
        drain_all()
    assert effects() == ["s1/m1", "s1/m2", "s2/x"]
    assert one("SELECT count(*) FROM comboio_ready") == 4
    assert one("SELECT dead_message FROM comboio_gate") == one("SELECT id FROM comboio_dead")
    assert {row[0] for row in rows("SELECT kind FROM comboio_alert")} == {
        "dead letter",
        "held session",
    }


def test_an_error_that_says_so_is_dead_at_once_and_a_retry_comes_when_asked() -> None:
    def handler(payload: Any, message: Message) -> None:
        if payload["do"] == "die":
            raise DeadLetter("account closed")
        if message.attempt == 1:
            raise RetryLater(after_seconds=0.0)

    with consuming(handler):
        send(delivery("a", {"do": "die"}), delivery("b", {"do": "retry"}))
        drain_until_quiet()
    assert rows("SELECT error FROM comboio_dead") == [("account closed",)]
    assert rows("SELECT attempts FROM comboio_done") == [(2,)]


def test_a_skipped_message_is_done_without_its_writes() -> None:
    def handler(_payload: Any, message: Message) -> None:
        Group.objects.create(name=f"s/{message.key}")
        raise Skip("nothing to do")

    with consuming(handler):
        send(delivery("a"))
        drain_all()
    assert effects() == []
    assert one("SELECT count(*) FROM comboio_done") == 1


def test_a_payload_that_does_not_fit_is_dead_as_malformed_without_retries() -> None:
    with consuming(Effects()):
        send(delivery("a", content_type="application/json"))
        run("UPDATE comboio_message SET payload = 'no json'")
        drain_all()
    assert rows("SELECT reason, attempts FROM comboio_dead") == [("malformed", 1)]


def test_a_handler_that_hides_a_database_error_has_failed() -> None:
    def handler(_payload: Any, message: Message) -> None:
        Group.objects.create(name=f"s/{message.key}")
        try:
            Group.objects.create(name=f"s/{message.key}")
        except IntegrityError:
            return

    with consuming(handler):
        send(delivery("a"), delivery("b"))
        drain_until_quiet()
    assert effects() == []
    assert {row[0] for row in rows("SELECT error_class FROM comboio_dead")} == {
        "SwallowedErrorError"
    }


@pytest.mark.parametrize("statement", ["COMMIT", "ROLLBACK", "COMMIT; BEGIN"])
def test_a_handler_that_ends_the_transaction_is_never_counted_as_done(statement: str) -> None:
    def handler(_payload: Any, _message: Message) -> None:
        connection.connection.execute(statement)

    with consuming(handler):
        send(delivery("a"))
        try:
            drain_all()
        except Exception:
            connection.close()
        drain_until_quiet()
    assert one("SELECT count(*) FROM comboio_done") == 0
    assert one("SELECT count(*) FROM comboio_dead") == 1


def test_a_hook_on_commit_runs_after_the_commit_and_its_error_changes_nothing() -> None:
    seen: list[str] = []

    def handler(_payload: Any, message: Message) -> None:
        def hook() -> None:
            seen.append(message.key)
            if message.key == "a":
                raise ValueError("a hook that fails")

        transaction.on_commit(hook)

    with consuming(handler):
        send(delivery("a"), delivery("b"))
        drain_all()
    assert sorted(seen) == ["a", "b"]
    assert one("SELECT count(*) FROM comboio_done") == 2


def test_an_error_that_nobody_can_print_is_still_set_aside() -> None:
    class UnprintableError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    errors = [UnprintableError(), ValueError("\x00\ud800" + "x" * 2_000_000)]

    def handler(payload: Any, _message: Message) -> None:
        raise errors[payload["n"]]

    with consuming(handler, retry=Retry(limit=1)):
        send(delivery("a", {"n": 0}), delivery("b", {"n": 1}))
        drain_all()
    assert one("SELECT count(*) FROM comboio_dead") == 2
    assert one("SELECT max(length(error)) FROM comboio_dead") < 5000


def test_the_result_of_a_handler_is_kept() -> None:
    with consuming(Effects()):
        send(delivery("a"))
        drain_all()
    assert rows("SELECT result::text FROM comboio_done") == [('{"key": "a"}',)]


def test_a_held_consumer_does_not_run_until_its_hold_ends() -> None:
    with consuming(Effects()):
        send(delivery("a"))
        run("UPDATE comboio_consumer SET held = true WHERE id > 0")
        assert drain_all() == 0
        run("UPDATE comboio_consumer SET held_until = now() - interval '1 second' WHERE id > 0")
        assert drain_all() == 1


def test_many_shut_sessions_do_not_hide_an_open_one() -> None:
    with consuming(Effects()):
        send(*[delivery(f"m{n}", session=f"s{n}") for n in range(600)])
        run(
            "INSERT INTO comboio_gate (session, lane, held) SELECT session, lane, true"
            " FROM comboio_ready WHERE session <> (SELECT min(session) FROM comboio_ready)"
        )
        assert drain_all() == 1


def test_a_handler_that_runs_past_its_time_limit_has_failed() -> None:
    def handler(payload: Any, message: Message) -> None:
        Group.objects.create(name=f"s/{message.key}")
        while payload["spin"]:
            pass

    with consuming(handler, timeout_seconds=0.05, retry=Retry(limit=1)):
        send(delivery("a", {"spin": True}), delivery("b", {"spin": False}))
        drain_until_quiet()
    assert effects() == ["s/b"]
    assert rows("SELECT error_class FROM comboio_dead") == [("HandlerTimeoutError",)]
