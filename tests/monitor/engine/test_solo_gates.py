"""A crash in a retry: a message that then goes through alone leaves no reason behind."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.domain.message import Message
from monitor.domain.states import State
from monitor.testing import Inbox
from monitor.testing.clock import seconds_until_due
from tests.charging import PATIENT
from tests.engine import consuming
from tests.rows import insert, one, rows


def _handle(payload: Any, message: Message) -> None:
    if message.attempt <= payload["fails"]:
        raise ValueError("not yet")


def _gates() -> list[tuple[Any, ...]]:
    return rows("SELECT attempts, error, solo_until FROM comboio_gate")


@pytest.mark.parametrize("followers", [0, 3])
def test_a_retry_that_goes_through_alone_leaves_no_gate(inbox: Inbox, followers: int) -> None:
    with consuming(_handle, retry=PATIENT):
        inbox.deliver("test", {"fails": 1}, key="m", session="s")
        inbox.crash_before_commit("m")
        for n in range(followers):
            inbox.deliver("test", {"fails": 0}, key=f"f{n}", session="s")
        inbox.run()
        inbox.advance(3600)
        inbox.run()
    assert inbox.deaths == 1
    assert {each.state for each in inbox.messages()} == {State.DONE}
    assert _gates() == []
    assert seconds_until_due() is None  # or the worker's parent would look for it for ever


def test_one_that_fails_again_alone_is_no_suspect_any_more(inbox: Inbox) -> None:
    with consuming(_handle, retry=PATIENT):
        inbox.deliver("test", {"fails": 2}, key="m", session="s")
        inbox.run()
        ids = [one("SELECT id FROM comboio_ready")]
        insert("comboio_worker", returning="slot", process="child", host="h", pid=1, ids=ids)
        inbox.advance(3600)
        inbox.run()
        assert _gates() == [(2, "ValueError: not yet", None)]
        inbox.advance(3600)
        inbox.run()
    assert (inbox.state("m"), _gates()) == (State.DONE, [])
