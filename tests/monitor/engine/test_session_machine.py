"""A session against a model of it: what comes, fails, is held, skipped, put back, in any order."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import Group
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from monitor.domain.actor import SYSTEM
from monitor.domain.consumer import Consumer
from monitor.domain.errors import DeadLetter
from monitor.domain.message import Message
from monitor.domain.order import Numbered
from monitor.domain.retry import Retry
from monitor.engine import directory, registry
from monitor.operations import messages, sessions, skipping
from monitor.operations.replaying import replay
from monitor.testing import cleaning
from tests.engine import delivery, drain_all, send
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db(transaction=True)

LIMIT = 3
HOUR = Retry(limit=LIMIT, base_seconds=3600, cap_seconds=3600)


@dataclass
class Model:
    """What a session should be: its queue in order, its gate, and where each message is."""

    holds_dead: bool
    is_numbered: bool
    queue: list[tuple[int, int, str]] = field(default_factory=list)  # place, arrival, key
    plan: dict[str, list[str]] = field(default_factory=dict)  # what each start of a key does
    done: list[str] = field(default_factory=list)
    dead: set[str] = field(default_factory=set)
    discarded: set[str] = field(default_factory=set)
    place: dict[str, int] = field(default_factory=dict)
    next: int = 1
    is_held: bool = False
    dead_head: str | None = None
    head: str | None = None  # of the gate: who waits for its retry
    attempts: int = 0
    is_due: bool = True

    def drain(self) -> None:
        """Run whatever may run."""
        while self.queue and not self.is_held and self.dead_head is None:
            if (self.head is not None and not self.is_due) or not self._batch():
                return

    def _batch(self) -> bool:
        """What is stale goes first, then a stretch without holes runs. False: nothing moved."""
        stale = [key for place, _, key in self.queue if self.is_numbered and 0 < place < self.next]
        for key in stale:
            self.leave(key)
            self.dead.add(key)
            self.plan[key] = self.plan[key][1:]
        ran = False
        for place, _, key in list(self.queue):
            if self.is_numbered and place > 0:
                if place < self.next:
                    continue  # the second with its number: judged again when the stretch has ended
                if place > self.next:
                    break
            ran = True
            if not self._start(place, key):
                break
        return ran or bool(stale)

    def put_back(self, key: str) -> None:
        """A dead message is ready again, at its place, or before all others of a numbered one."""
        self.dead.discard(key)
        self.release(key)
        place = self.place[key] - 10**6 if self.is_numbered else self.place[key]
        self.add(place, key)

    def add(self, place: int, key: str) -> None:
        """A message is ready at this place."""
        self.queue = sorted([*self.queue, (place, int(key[1:]), key)])

    def leave(self, key: str) -> None:
        """A message is ready no more."""
        self.queue = [each for each in self.queue if each[2] != key]

    def release(self, key: str) -> None:
        """A message holds its session no more."""
        if self.dead_head == key:
            self.dead_head = None
        if self.head == key:
            self.head, self.attempts, self.is_due = None, 0, True

    def _start(self, place: int, key: str) -> bool:
        act = self.plan[key].pop(0) if self.plan[key] else "ok"
        before = self.attempts if self.head == key else 0
        if act == "fail" and before + 1 < LIMIT:
            self.head, self.attempts, self.is_due = key, before + 1, False
            return False
        self.leave(key)
        if act == "ok":
            self.done.append(key)
        else:
            self.dead.add(key)
            self.dead_head = key if self.holds_dead else None
        if act != "ok" or self.head == key:
            self.head, self.attempts, self.is_due = None, 0, True  # a death drops any retry
        if self.is_numbered and place > 0:
            self.next = place + 1
        return act == "ok"


class SessionMachine(RuleBasedStateMachine):
    """One session of one consumer; each rule is something that happens to it."""

    keys = Bundle("keys")
    holds_dead = False
    is_numbered = False

    def __init__(self) -> None:
        super().__init__()
        cleaning.empty_inbox()
        run("DELETE FROM auth_group WHERE name LIKE 'k%%'")
        self.plan: dict[str, list[str]] = {}  # what each start of a key does
        self.model = Model(holds_dead=self.holds_dead, is_numbered=self.is_numbered)
        registry.remove("test.machine")
        registry.add(
            Consumer(
                name="test.machine",
                source="test",
                handler=self._handle,
                wants_message=True,
                retry=HOUR,
                when_dead="hold" if self.holds_dead else "skip",
                numbered=Numbered() if self.is_numbered else None,
            )
        )
        directory.forget()
        self.sent = 0

    def teardown(self) -> None:
        registry.remove("test.machine")
        directory.forget()

    def _handle(self, _payload: Any, message: Message) -> None:
        act = self.acts(message)
        if act == "die":
            raise DeadLetter("planned")
        if act == "fail":
            raise ValueError("planned")
        Group.objects.create(name=message.key)

    def acts(self, message: Message) -> str:
        """What this start does: by the attempts that are stored, so that a redo does the same."""
        plan = self.plan[message.key]
        starts = one(
            f"SELECT count(*) FROM comboio_event WHERE message_id = {message.id}"
            " AND kind IN ('failed', 'dead')"
        )
        return plan[starts] if starts < len(plan) else "ok"

    @rule(
        target=keys,
        plan=st.lists(st.sampled_from(["fail", "fail", "die"]), max_size=4),
        ahead=st.integers(0, 2),
    )
    def deliver(self, plan: list[str], ahead: int) -> str:
        self.sent += 1
        key = f"k{self.sent}"
        number = self.sent + ahead if self.is_numbered else None
        self.plan[key] = plan
        self.model.plan[key] = list(plan)
        self._send(key, number)
        place = number or self.sent
        self.model.place[key] = place
        self.model.add(place, key)
        return key

    @rule(key=keys)
    def deliver_again(self, key: str) -> None:
        ((receipt,),) = self._send(key, self.model.place[key] if self.is_numbered else None)
        assert receipt.verdict == "duplicate"

    @rule()
    def work(self) -> None:
        drain_all()
        self.model.drain()

    @rule()
    def time_passes(self) -> None:
        run("UPDATE comboio_gate SET retry_at = now() WHERE retry_at IS NOT NULL")
        self.model.is_due = True

    @precondition(lambda self: self.model.place and not self.model.is_held)
    @rule()
    def hold(self) -> None:
        sessions.hold(SYSTEM, self._session(), reason="test")
        self.model.is_held = True

    @precondition(lambda self: self.model.is_held)
    @rule()
    def resume(self) -> None:
        sessions.resume(SYSTEM, self._session(), seen=self._gate())
        self.model.is_held = False

    @precondition(lambda self: self.model.dead)
    @rule(data=st.data(), verb=st.sampled_from(["requeue", "replay", "discard"]))
    def decide(self, data: st.DataObject, verb: str) -> None:
        key = data.draw(st.sampled_from(sorted(self.model.dead)))
        ((number, version),) = rows(
            "SELECT d.id, d.version FROM comboio_dead d JOIN comboio_message m USING (id)"
            f" WHERE m.key = '{key}'"
        )
        if verb == "discard":
            messages.discard(SYSTEM, number, seen=version)
            self.model.dead.discard(key)
            self.model.discarded.add(key)
            self.model.release(key)
            return
        if verb == "requeue":
            messages.requeue(SYSTEM, number, seen=version)
        else:
            text = f'{{"n": {version}}}'.encode()
            replay(SYSTEM, number, text, seen=version, reason="test")
        self.model.put_back(key)

    @precondition(lambda self: self.model.dead_head or self.model.head)
    @rule()
    def skip_head(self) -> None:
        skipping.skip_head(SYSTEM, self._session(), seen=self._gate(), reason="test")
        if self.model.dead_head:
            self.model.dead_head = None
            return
        key = str(self.model.head)
        place = min(place for place, _, each in self.model.queue if each == key)
        self.model.leave(key)
        self.model.dead.add(key)
        self.model.release(key)
        if self.is_numbered and place > 0:
            self.model.next = max(self.model.next, place + 1)

    @precondition(lambda self: self._gap() is not None)
    @rule()
    def skip_gap(self) -> None:
        drain_all()
        self.model.drain()
        to = self._gap()
        if to is None:
            return
        skipping.skip_gap(SYSTEM, self._session(), seen=self.model.next, reason="test")
        self.model.next = to

    @invariant()
    def every_message_is_where_the_model_has_it(self) -> None:
        found = dict(
            rows("SELECT key, state FROM comboio_message_state JOIN comboio_message USING (id)")
        )
        expected = {key: "ready" for _, _, key in self.model.queue}
        if self.model.head in expected:
            expected[str(self.model.head)] = "waiting"
        expected |= dict.fromkeys(self.model.done, "done")
        expected |= dict.fromkeys(self.model.dead, "dead")
        expected |= dict.fromkeys(self.model.discarded, "discarded")
        assert found == expected

    @invariant()
    def effects_came_in_the_order_of_the_model(self) -> None:
        effects = rows("SELECT name FROM auth_group WHERE name LIKE 'k%%' ORDER BY id")
        assert [row[0] for row in effects] == self.model.done

    def _gap(self) -> int | None:
        if not self.is_numbered or self.model.dead_head or self.model.is_held or self.model.head:
            return None
        waiting = [place for place, _, _ in self.model.queue]
        if not waiting or waiting[0] <= self.model.next:
            return None
        return waiting[0]

    def _session(self) -> int:
        return int(one("SELECT id FROM comboio_session"))

    def _gate(self) -> int:
        return int(one("SELECT version FROM comboio_gate"))

    def _send(self, key: str, number: int | None) -> Any:
        return send(delivery(key, session="s", sequence=number))


@pytest.mark.parametrize("is_numbered", [False, True], ids=["arrival", "numbered"])
@pytest.mark.parametrize("holds_dead", [False, True], ids=["skip", "hold"])
def test_a_session_is_always_where_its_model_is(*, holds_dead: bool, is_numbered: bool) -> None:
    machine = type(
        "Machine", (SessionMachine,), {"holds_dead": holds_dead, "is_numbered": is_numbered}
    )
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=int(os.environ.get("MACHINE_EXAMPLES", "10")),
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
