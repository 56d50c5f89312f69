"""C17: a message in the middle of a session always fails: skip it, or hold what is behind it."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from monitor.domain.message import Message
from monitor.domain.states import DeadReason, State
from monitor.maintenance import chores
from monitor.metrics import figures
from monitor.operations import messages
from monitor.reports import sessions
from monitor.testing import Inbox
from tests.dashboard.conftest import user
from tests.engine import consuming, delivery, send
from tests.monitor.operations.scenes import version
from tests.people import CLARA
from tests.rows import one, rows

MODES = pytest.mark.parametrize("external", [False, True], ids=["atomic", "external"])
FOUND = [f"m{n}" for n in range(1, 7)]


class Poison:
    """A consumer whose m3 of s1 fails until it is mended; what it committed, in order."""

    def __init__(self, inbox: Inbox, *, external: bool, when_dead: str) -> None:
        self.inbox = inbox
        self.is_mended = False
        self._external = external
        self._consuming = consuming(self._handle, external=external, when_dead=when_dead)

    def __enter__(self) -> Poison:
        self._consuming.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._consuming.__exit__(*error)

    def _handle(self, _payload: Any, message: Message) -> None:
        with message.transaction() if self._external else nullcontext():
            Group.objects.create(name=f"{message.session}/{message.key}")
            if message.key == "s1-m3" and not self.is_mended:
                raise ValueError("no such account")

    def run(self) -> None:
        """The six messages of three sessions in one batch; then, when all is quiet, m7."""
        send(*[delivery(f"{s}-{m}", session=s) for m in FOUND for s in ("s1", "s2", "s3")])
        self.inbox.settle()
        self.inbox.deliver("test", {"n": 1}, key="s1-m7", session="s1")
        self.inbox.settle()

    def committed(self, session: str) -> list[str]:
        """The messages of a session whose effects stand, in the order of their commits."""
        found = rows(
            "SELECT split_part(name, '-', 2) FROM auth_group"
            " WHERE starts_with(name, %(prefix)s) ORDER BY id",
            prefix=f"{session}/",
        )
        return [name for (name,) in found]

    def check_the_others(self) -> None:
        """The other sessions of the batch are done, in order, at their first attempt."""
        assert [self.committed(each) for each in ("s2", "s3")] == [FOUND, FOUND]
        assert one("SELECT max(attempts) FROM comboio_done") == 1


def _the_dead(inbox: Inbox) -> int:
    (dead,) = inbox.dead()
    assert (dead.key, dead.reason, dead.attempts) == ("s1-m3", DeadReason.POISON, 3)
    return dead.id


@MODES
def test_skip_sets_the_message_aside_and_its_session_goes_on(inbox: Inbox, external: bool) -> None:
    with Poison(inbox, external=external, when_dead="skip") as poison:
        poison.run()
    _the_dead(inbox)
    assert poison.committed("s1") == ["m1", "m2", "m4", "m5", "m6", "m7"]
    poison.check_the_others()
    assert one("SELECT count(*) FROM comboio_gate") == 0


@MODES
def test_hold_parks_the_rest_of_the_session_and_shows_why(inbox: Inbox, external: bool) -> None:
    with Poison(inbox, external=external, when_dead="hold") as poison:
        poison.run()
        dead = _the_dead(inbox)
        assert poison.committed("s1") == ["m1", "m2"]
        poison.check_the_others()
        _check_what_is_shown(dead)


@MODES
@pytest.mark.parametrize("mended", [False, True], ids=["discard", "requeue"])
def test_when_a_person_decides_about_the_head_the_rest_runs_in_order(
    inbox: Inbox, external: bool, mended: bool
) -> None:
    with Poison(inbox, external=external, when_dead="hold") as poison:
        poison.run()
        dead = _the_dead(inbox)
        poison.is_mended = mended
        decide = messages.requeue if mended else messages.discard
        decide(CLARA, dead, seen=version("comboio_dead", dead))
        inbox.settle()
    rest = ["m3", "m4", "m5", "m6", "m7"] if mended else ["m4", "m5", "m6", "m7"]
    assert poison.committed("s1") == ["m1", "m2", *rest]
    assert inbox.state("s1-m3") == (State.DONE if mended else State.DISCARDED)
    poison.check_the_others()
    assert one("SELECT count(*) FROM comboio_gate") == 0


def _check_what_is_shown(dead: int) -> None:
    session = one("SELECT session FROM comboio_message WHERE id = %(id)s", id=dead)
    for chore in chores.CHORES:
        if chore.name == "take snapshot":
            chores.run_once(chore)
    (listed,) = sessions.page(blocked=True).page.rows
    assert (listed.id, listed.backlog, listed.blocker) == (session, 4, "dead head")
    assert "no such account" in listed.reason
    shown = sessions.detail(session)
    assert shown is not None
    assert shown.head is not None
    assert (shown.head.id, shown.ready, shown.dead) == (dead, 4, 1)
    assert [each.key for each in shown.strip if each.parked] == [f"s1-m{n}" for n in (4, 5, 6, 7)]
    (consumer,) = [each for each in figures.read().consumers if each.name == "test.apply"]
    assert (consumer.parked, consumer.held_sessions, consumer.dead) == (4, 1, 1)
    client = Client()
    client.force_login(user("victor", "viewer"))
    page = client.get(f"/sessions/{session}/").content.decode()
    assert "no such account" in page
