"""C13: the same id at the same moment, at the door and at the workers; losers do not wait."""

from __future__ import annotations

from collections import Counter
from threading import Event, Lock
from typing import Any

import pytest
from django.contrib.auth.models import Group

from monitor.domain.message import Message
from monitor.domain.states import Verdict
from monitor.testing import Inbox
from tests import entrance
from tests.charging import charged, charging, write_row
from tests.engine import consuming, delivery, drain_all, send
from tests.entrance import PLAIN, configured, post
from tests.racing import race
from tests.rows import one

SENDERS, COPIES = 20, 8


class Slow:
    """A handler that goes on only when all other workers have come back with nothing."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._others = Event()
        self._came_back = 0
        self._lock = Lock()

    def wait(self, message: Message) -> None:
        """Called in the handler: until the losers are free again."""
        self.calls.append(message.key)
        assert self._others.wait(20), "a loser waits for the winner"

    def work(self) -> int:
        """One worker that looks for work once; what it moved."""
        moved = drain_all()
        with self._lock:
            self._came_back += 1
            if self._came_back == COPIES - 1:
                self._others.set()
        return moved


def _duplicates() -> int:
    return int(one("SELECT sum(value) FROM comboio_rollup_delta WHERE name = 'duplicates'"))


def _deliver_at_once() -> None:
    receipts = race(*[lambda: send(delivery("evt_2"))[0][0].verdict] * COPIES)
    assert Counter(receipts) == {Verdict.NEW: 1, Verdict.DUPLICATE: COPIES - 1}


@pytest.mark.django_db(transaction=True)
def test_of_twenty_requests_at_once_one_is_new_and_nineteen_are_told_so() -> None:
    with configured(shop=PLAIN), entrance.effects("shop"):
        statuses = race(*[lambda: post("shop", b'{"id":"evt_1"}').status] * SENDERS)
        assert Counter(statuses) == {202: 1, 200: SENDERS - 1}
        assert (entrance.stored(), entrance.count_effects()) == (1, 1)
    assert _duplicates() == SENDERS - 1


@pytest.mark.django_db(transaction=True)
def test_of_eight_copies_at_eight_workers_one_runs_and_seven_workers_are_free_at_once() -> None:
    slow = Slow()

    def handler(_payload: Any, message: Message) -> None:
        slow.wait(message)
        Group.objects.create(name=message.key)

    with consuming(handler):
        _deliver_at_once()
        moved = race(*[slow.work] * COPIES)
    assert sorted(moved) == [0] * (COPIES - 1) + [1]
    assert slow.calls == ["evt_2"]
    assert Group.objects.filter(name="evt_2").count() == 1
    assert (entrance.stored(), _duplicates()) == (1, COPIES - 1)


@pytest.mark.parametrize("kind", ["keyed", "queryable", "neither"])
def test_an_external_handler_calls_once_and_its_losers_are_free_at_once(
    inbox: Inbox, kind: str
) -> None:
    slow, provider = Slow(), inbox.provider("charge")

    def handler(payload: Any, message: Any) -> None:
        receipt = message.effect("charge", payload)
        slow.wait(message)
        write_row(message, receipt)

    with charging(kind, handler), inbox.faults.installed():
        _deliver_at_once()
        moved = race(*[slow.work] * COPIES)
    assert sorted(moved) == [0] * (COPIES - 1) + [1]
    assert (slow.calls, len(provider.ledger), charged()) == (["evt_2"], 1, 1)
    assert (entrance.stored(), _duplicates()) == (1, COPIES - 1)
