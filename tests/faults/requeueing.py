"""Dead letters of the fault tests, operators who requeue them, and what each act must leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from django.contrib.auth.models import Group

from monitor.domain.actor import Actor
from monitor.domain.errors import RefusedError
from monitor.domain.retry import Retry
from monitor.operations import carrying, messages, transaction
from tests.engine import consuming, delivery, drain_all, send
from tests.faults import world
from tests.people import ANNA
from tests.rows import one, rows

PART = 2  # messages in each part of a bulk act here
_LOCK_SECONDS = 0.2
_ONCE = Retry(limit=1, base_seconds=0.01, cap_seconds=0.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A dead letter as the page showed it."""

    id: int
    version: int


@dataclass(frozen=True, slots=True)
class Requeue:
    """The job of an operator's click on one. Answers what it did."""

    seen: Seen
    actor: Actor = ANNA

    def __call__(self) -> str:
        with patch.object(transaction, "LOCK_SECONDS", _LOCK_SECONDS):
            return messages.requeue(self.actor, self.seen.id, seen=self.seen.version).text


@dataclass(frozen=True, slots=True)
class RequeueAll:
    """The job of an operator's click on all of one cause, in small parts. Answers what it did."""

    cause: str
    up_to_version: int
    actor: Actor = ANNA

    def __call__(self) -> str:
        seen = self.up_to_version
        with patch.multiple(carrying, CHUNK=PART, LOCK_SECONDS=_LOCK_SECONDS):
            return messages.requeue_cause(self.actor, self.cause, up_to_version=seen).text


def bury(*keys: str) -> None:
    """Messages whose handler failed for good, each in a session of its own."""

    def fail(_payload: Any, _message: Any) -> None:
        raise ValueError("no such account")

    with consuming(fail, retry=_ONCE):
        send(*(delivery(key, session=key) for key in keys))
        drain_all()
    assert len(dead()) == len(keys)


def dead() -> list[Seen]:
    """The dead letters as a page shows them now."""
    found = rows("SELECT id, version FROM comboio_dead ORDER BY id")
    return [Seen(id=number, version=version) for number, version in found]


def all_of_them() -> RequeueAll:
    """The click on all of the one cause that there is."""
    cause = one("SELECT DISTINCT cause FROM comboio_dead")
    return RequeueAll(cause, one("SELECT max(version) FROM comboio_dead"))


def repeat(job: Callable[[], str]) -> str:
    """The same click again, as the same page would send it; what the person is told."""
    try:
        return job()
    except RefusedError as error:
        return str(error)


def go_on() -> int:
    """What the clock does with an act that was broken off; how many it put back."""
    return carrying.carry_on_all()


def applied() -> int:
    """How many were put back: each wholly, with one line of audit, and the others not at all."""
    moved = [(number,) for (number,) in rows("SELECT id FROM comboio_ready ORDER BY id")]
    acts = "SELECT {} FROM comboio_{} WHERE {} = 'requeue' ORDER BY 1"
    assert rows(acts.format("object_id", "audit", "verb")) == moved
    assert rows(acts.format("message_id", "event", "kind")) == moved
    assert world.counted("operator_actions", "requeue") == len(moved)
    assert one("SELECT count(*) FROM comboio_dead") + len(moved) == len(world.states())
    is_open = one("SELECT count(*) FROM comboio_alert WHERE state = 'open'")
    assert is_open == (one("SELECT count(*) FROM comboio_dead") > 0)
    return len(moved)


def assert_run_once(*keys: str) -> None:
    """Mended, each runs once; the act on each is on record once."""

    def work(_payload: Any, message: Any) -> None:
        Group.objects.create(name=f"effect/{message.key}/requeued")

    assert applied() == len(keys)
    with consuming(work):
        assert drain_all() == len(keys)
    assert world.effects() == dict.fromkeys(keys, 1)
    world.assert_settled(*keys, state="done")
