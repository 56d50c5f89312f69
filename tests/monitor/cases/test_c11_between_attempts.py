"""C11: nothing of a failed attempt is left when the next one starts, or when there is none.

There is no hook for a failure: what a handler does about it itself belongs to the failed attempt.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction

from monitor.domain.message import Message
from monitor.domain.states import DeadReason, State, Verdict
from monitor.operations import messages, mismatches
from monitor.testing import Inbox
from tests.engine import consuming
from tests.monitor.operations.scenes import version
from tests.people import CLARA
from tests.rows import one

LIMIT = 3
MODES = pytest.mark.parametrize("external", [False, True], ids=["atomic", "external"])
Write = Callable[[Any, Message], None]


def _handler(write: Write, *, external: bool) -> Write:
    """The handler that writes inside the transaction of its mode."""

    def handle(payload: Any, message: Message) -> None:
        with message.transaction() if external else nullcontext():
            write(payload, message)

    return handle


def _written(name: str) -> int:
    return Group.objects.filter(name=name).count()


@MODES
def test_two_failed_attempts_and_a_good_one_leave_one_row_and_one_hook(
    inbox: Inbox, external: bool
) -> None:
    committed: list[int] = []

    def write(_payload: Any, message: Message) -> None:
        attempt = message.attempt
        Group.objects.create(name=f"A/{attempt}")
        transaction.on_commit(lambda: committed.append(attempt))
        if attempt < LIMIT:
            raise ValueError(f"attempt {attempt}")

    with consuming(_handler(write, external=external), external=external):
        inbox.deliver("test", {}, key="m", session="s")
        inbox.settle()
    assert (inbox.state("m"), committed) == (State.DONE, [LIMIT])
    assert [_written(f"A/{attempt}") for attempt in (1, 2, 3)] == [0, 0, 1]
    assert one("SELECT attempts FROM comboio_done") == LIMIT


@MODES
def test_what_a_handler_does_about_its_own_failure_goes_with_it(
    inbox: Inbox, external: bool
) -> None:
    tidied: list[int] = []

    def write(payload: Any, message: Message) -> None:
        Group.objects.create(name=f"A/{message.key}")
        try:
            if payload["fails"]:
                raise ValueError("always")
        except ValueError:
            Group.objects.create(name="compensated")
            tidied.append(message.attempt)
            raise

    with consuming(_handler(write, external=external), external=external):
        inbox.deliver("test", {"fails": True}, key="m", session="s")
        inbox.deliver("test", {"fails": False}, key="next", session="other")
        inbox.settle()
        (dead,) = inbox.dead()
        assert (dead.key, dead.reason, dead.attempts) == ("m", DeadReason.POISON, LIMIT)
    assert [_written(each) for each in ("A/m", "compensated", "A/next")] == [0, 0, 1]
    assert sorted(set(tidied)) == [1, 2, 3]


@MODES
def test_a_dead_message_runs_again_when_its_handler_is_mended(inbox: Inbox, external: bool) -> None:
    broken = [True]

    def write(_payload: Any, _message: Message) -> None:
        Group.objects.create(name="A")
        if broken:
            raise ValueError("always")

    with consuming(_handler(write, external=external), external=external):
        inbox.deliver("test", {}, key="m", session="s")
        inbox.settle()
        (dead,) = inbox.dead()
        assert _written("A") == 0
        broken.clear()
        messages.requeue(CLARA, dead.id, seen=version("comboio_dead", dead.id))
        inbox.settle()
        (again,) = inbox.deliver("test", {}, key="m", session="s")
    assert (again.verdict, again.state) == (Verdict.DUPLICATE, "done")
    assert (inbox.state("m"), inbox.dead(), _written("A")) == (State.DONE, [], 1)
    assert one("SELECT attempts FROM comboio_done") == 1


@MODES
def test_a_corrected_message_is_not_swallowed_by_the_mark_of_the_dead_one(
    inbox: Inbox, external: bool
) -> None:
    def write(payload: Any, _message: Message) -> None:
        Group.objects.create(name="A")
        if payload["fails"]:
            raise ValueError("always")

    with consuming(_handler(write, external=external), external=external):
        inbox.deliver("test", {"fails": True}, key="m", session="s")
        inbox.settle()
        (corrected,) = inbox.deliver("test", {"fails": False}, key="m", session="s")
        assert corrected.verdict == Verdict.MISMATCH
        number = one("SELECT id FROM comboio_mismatch")
        seen = version("comboio_mismatch", number)
        mismatches.accept_second(CLARA, number, seen=seen, reason="corrected")
        inbox.settle()
    assert _written("A") == 1
    assert sorted(each.state for each in inbox.messages()) == [State.DEAD, State.DONE]


@MODES
def test_a_swallowed_violation_is_a_failed_attempt_that_says_what_to_do(
    inbox: Inbox, external: bool
) -> None:
    def write(payload: Any, message: Message) -> None:
        name = "there already" if payload["violates"] else message.key
        try:
            Group.objects.create(name=name)
        except IntegrityError:
            return

    Group.objects.create(name="there already")
    with consuming(_handler(write, external=external), external=external):
        for n, violates in enumerate((False, True, False)):
            inbox.deliver("test", {"violates": violates}, key=f"m{n}", session=f"s{n}")
        inbox.settle()
    assert [inbox.state(f"m{n}") for n in range(3)] == [State.DONE, State.DEAD, State.DONE]
    (dead,) = inbox.dead()
    assert dead.attempts == LIMIT
    assert "caught a database error" in dead.error
    assert "transaction.atomic()" in dead.error
    assert (_written("m0"), _written("m2")) == (1, 1)


@MODES
def test_a_violation_behind_a_savepoint_is_the_handlers_own_affair(
    inbox: Inbox, external: bool
) -> None:
    def write(_payload: Any, message: Message) -> None:
        try:
            with transaction.atomic():
                Group.objects.create(name="there already")
        except IntegrityError:
            Group.objects.create(name=message.key)

    Group.objects.create(name="there already")
    with consuming(_handler(write, external=external), external=external):
        inbox.deliver("test", {}, key="m")
        inbox.settle()
    assert (inbox.state("m"), _written("m")) == (State.DONE, 1)
