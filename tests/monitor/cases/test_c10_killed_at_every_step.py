"""C10: SIGKILL at every step on the way of a message: one effect, and an end without a hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import pika
import pytest
from django.contrib.auth.models import Group
from django.db import connection

from monitor.domain.message import Message
from monitor.domain.retry import Retry
from monitor.domain.states import DeadReason, State
from monitor.maintenance import chores
from monitor.reports import system
from monitor.sources import receiver
from monitor.sources.amqp import Subscription
from monitor.sources.health import Health
from monitor.store import dead_letters, queue
from monitor.testing import Inbox
from tests.engine import consuming, delivery, drain_all, send
from tests.forked import die, drain_once, instead, note, noted
from tests.forking import forking, status, work_until_one_lives
from tests.monitor.sources.letters import amqp_source
from tests.rabbitmq import Queue
from tests.rows import one
from tests.waiting import wait_until

LEASE_SECONDS, MORE_SECONDS = 1.0, 5.0
MODES = pytest.mark.parametrize("external", [False, True], ids=["atomic", "external"])
Strike = Callable[[], None]


def _strike(folder: Path) -> None:
    """Die here, the first time that any process comes here."""
    try:
        (folder / "died").touch(exist_ok=False)
    except FileExistsError:
        return
    die()


@contextmanager
def _in_the_last_transaction(
    owner: Any, name: str, before: Strike, after: Strike
) -> Iterator[None]:
    """before: with owner.name(...) done in the open transaction; after: with that committed."""
    is_last = [False]

    def call(plain: Callable[..., Any], *values: Any, **named: Any) -> Any:
        found = plain(*values, **named)
        is_last[0] = True
        before()
        return found

    def commit(plain: Callable[[], None]) -> None:
        plain()
        if is_last[0]:
            after()

    with ExitStack() as stack:
        stack.enter_context(instead(owner, name, call))
        stack.enter_context(instead(connection, "commit", commit))
        yield


def work(point: str, folder: Path, *, external: bool) -> None:
    """A worker that dies at the point once, and ends when nothing is left to do."""
    strikes = {each: (lambda: None) for each in ("taken", "wrote", "settled", "committed")}
    strikes[point.removeprefix("dead ")] = partial(_strike, folder)
    is_poison = point.startswith("dead ")

    def handle(_payload: Any, message: Message) -> None:
        note(folder / "calls", message.key)
        with message.transaction() if external else nullcontext():
            Group.objects.create(name=message.key)
            strikes["wrote"]()
            if is_poison:
                raise ValueError("poison")

    def begins(message_id: int, *_limits: float) -> None:
        if message_id:
            strikes["taken"]()

    owner, name = (dead_letters, "bury") if is_poison else (queue, "finish")
    policy = {"external": external, "lease_seconds": LEASE_SECONDS, "retry": Retry(limit=1)}
    with (
        consuming(handle, **policy),
        _in_the_last_transaction(owner, name, strikes["settled"], strikes["committed"]),
    ):
        while one("SELECT count(*) FROM comboio_ready"):
            drain_once(note=begins)
            Event().wait(0.02)


@MODES
@pytest.mark.parametrize("point", ["taken", "wrote", "settled", "committed"])
def test_a_worker_that_dies_leaves_one_effect_after_at_most_two_calls(
    inbox: Inbox, tmp_path: Path, point: str, external: bool
) -> None:
    with consuming(lambda _payload, _message: None, external=external), forking() as start:
        send(delivery("m", session="s"))
        died, seconds = _until_one_lives(start, partial(work, point, tmp_path, external=external))
        assert inbox.state("m") == State.DONE
    assert died == 1
    assert seconds < LEASE_SECONDS + MORE_SECONDS
    assert Group.objects.filter(name="m").count() == 1
    calls = {"taken": 1, "committed": 1}.get(point, 2)
    assert noted(tmp_path / "calls") == ["m"] * calls
    _check_nothing_is_left()


@MODES
@pytest.mark.parametrize("point", ["dead settled", "dead committed"])
def test_a_worker_that_dies_while_it_sets_a_message_aside_leaves_it_dead_once(
    inbox: Inbox, tmp_path: Path, point: str, external: bool
) -> None:
    with consuming(lambda _payload, _message: None, external=external), forking() as start:
        send(delivery("m", session="s"))
        died, seconds = _until_one_lives(start, partial(work, point, tmp_path, external=external))
    (dead,) = inbox.dead()
    assert (died, dead.key, dead.reason, dead.attempts) == (1, "m", DeadReason.POISON, 1)
    assert seconds < LEASE_SECONDS + MORE_SECONDS
    assert Group.objects.filter(name="m").count() == 0
    assert one("SELECT sum(count) FROM comboio_alert WHERE kind = 'dead letter'") == 1
    _check_nothing_is_left()


def receive(point: str, url: str, name: str) -> None:
    """A receiver that dies there: with the batch committed, or acknowledged; or that does not."""
    health = Health(source="test")
    stop = Event()
    with pytest.MonkeyPatch.context() as patch, ExitStack() as places:
        patch.setenv("TEST_AMQP_URL", url)
        for each, method in (("committed", "stored"), ("acknowledged", "acknowledged")):
            if point == each:
                places.enter_context(instead(Health, method, lambda *_values: die()))
        if point == "":
            places.enter_context(instead(Health, "acknowledged", lambda *_values: stop.set()))
        with consuming(lambda _payload, _message: None):
            receiver.run(Subscription(amqp_source(name="test", queue=name)), stop, health)


@pytest.mark.parametrize("point", ["committed", "acknowledged"])
def test_a_receiver_that_dies_round_its_acknowledgement_leaves_one_message(
    inbox: Inbox, queue: Queue, point: str
) -> None:
    effects: Counter[str] = Counter()

    def handle(_payload: Any, message: Message) -> None:
        effects[message.key] += 1

    queue.put("{}", pika.BasicProperties(message_id="m1", delivery_mode=2))
    with consuming(handle), forking() as start:
        assert status(start(receive, point, queue.node.url, queue.name)) == -9
        queue.put("{}", pika.BasicProperties(message_id="m2", delivery_mode=2))
        while len(inbox.messages()) < 2:  # a batch may hold the first one alone
            assert status(start(receive, "", queue.node.url, queue.name)) == 0
        drain_all()
    assert effects == {"m1": 1, "m2": 1}
    assert one("SELECT sum(duplicates) FROM comboio_dedup") == (1 if point == "committed" else 0)
    wait_until(lambda: queue.depth() == 0, what="an empty queue")


def _until_one_lives(start: Any, job: Callable[[], None]) -> tuple[int, float]:
    """How many workers died, and the seconds from the first death to the end of the last worker."""
    assert status(start(job)) == -9
    begun = monotonic()
    return 1 + work_until_one_lives(start, job), monotonic() - begun


def _check_nothing_is_left() -> None:
    for table in ("ready", "lease", "gate", "in_doubt"):
        assert one(f"SELECT count(*) FROM comboio_{table}") == 0, table
    chores.run_once(next(each for each in chores.CHORES if each.name == "fold counters"))
    books = system.read().books
    assert (books.balanced, books.accepted) == (True, 1)
