"""C23: what dead workers leave behind is taken over by itself, whatever became of their traces."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import pytest
from django.contrib.auth.models import Group

from monitor.domain.message import Message
from monitor.domain.states import State
from monitor.maintenance import chores
from monitor.maintenance.chores import Chore
from monitor.metrics import figures
from monitor.testing import Inbox
from tests.engine import consuming, delivery, send
from tests.forked import drain_for_ever, note, noted
from tests.forking import forking, kill
from tests.rows import one, rows, run
from tests.waiting import wait_until

LEASE_SECONDS, MORE_SECONDS = 2.0, 5.0
SESSIONS = 5
NAME = "pod-1"
NAMED = "SELECT count(*) FROM comboio_worker WHERE process = 'pod-1'"
MODES = pytest.mark.parametrize("external", [False, True], ids=["atomic", "external"])


def work(folder: Path, *, external: bool) -> None:
    """A worker of that name; its handlers stand still until they may go."""

    def handle(_payload: Any, message: Message) -> None:
        note(folder / "calls", message.key)
        while not (folder / "go").exists():
            Event().wait(0.01)
        with message.transaction() if external else nullcontext():
            Group.objects.create(name=f"{message.session}/{message.key}")

    with consuming(handle, external=external, lease_seconds=LEASE_SECONDS):
        drain_for_ever(NAME)


def _kill_five_at_work(start: Any, job: Any, *, external: bool) -> None:
    """With five messages in their hands: a batch of one process, or a lease of each of five."""
    processes = [start(job) for _ in range(SESSIONS if external else 1)]
    taken = "comboio_lease" if external else "(SELECT unnest(ids) FROM comboio_worker)"
    wait_until(lambda: one(f"SELECT count(*) FROM {taken} t") >= SESSIONS, 60, what="all taken")
    for each in processes:
        kill(each)


@MODES
@pytest.mark.parametrize("trace", ["stays", "is deleted"])
def test_five_in_the_hands_of_a_dead_worker_are_done_soon(
    inbox: Inbox, tmp_path: Path, external: bool, trace: str
) -> None:
    job = partial(work, tmp_path, external=external)
    with consuming(lambda _payload, _message: None, external=external), forking() as start:
        send(*[delivery(f"a{n}", session=f"s{n}") for n in range(SESSIONS)])
        _kill_five_at_work(start, job, external=external)
        died = monotonic()
        if trace == "is deleted":
            assert run("DELETE FROM comboio_worker") >= 1
        # Another message of the same session, which is ready.
        send(*[delivery(f"b{n}", session=f"s{n}") for n in range(SESSIONS)])
        (tmp_path / "go").touch()
        start(job)  # of the same name
        total = 2 * SESSIONS
        wait_until(lambda: one("SELECT count(*) FROM comboio_done") == total, 60, what="all done")
        assert monotonic() - died < LEASE_SECONDS + MORE_SECONDS
        wait_until(lambda: one("SELECT count(*) FROM comboio_gate") == 0, what="no gate")
        _check_what_the_figures_say(total)
    _check_order()
    assert {each.state for each in inbox.messages()} == {State.DONE}
    assert max(noted(tmp_path / "calls").count(f"a{n}") for n in range(SESSIONS)) <= 2


def _check_order() -> None:
    names = rows("SELECT name FROM auth_group WHERE name LIKE 's%%/%%' ORDER BY id")
    for n in range(SESSIONS):
        own = [name for (name,) in names if name.startswith(f"s{n}/")]
        assert own == [f"s{n}/a{n}", f"s{n}/b{n}"]


def _check_what_the_figures_say(total: int) -> None:
    """Nothing is in anybody's hands, and the dead are forgotten by the clock alone."""
    assert one("SELECT count(*) FROM comboio_lease") == 0
    (consumer,) = [each for each in figures.read().consumers if each.name == "test.apply"]
    assert (consumer.backlog, consumer.waiting, consumer.held_sessions) == (0, 0, 0)
    assert total == one("SELECT count(*) FROM comboio_message")
    wait_until(lambda: one("SELECT count(*) FROM comboio_worker WHERE ids <> '{}'") <= SESSIONS)
    run("UPDATE comboio_worker SET at = now() - interval '2 minutes'")
    chores.run_once(next(each for each in chores.CHORES if each.name == "prune workers"))
    wait_until(lambda: one(NAMED) <= 1, what="only the living")


def hold_a_chore(folder: Path, name: str, *, in_a_statement: bool) -> None:
    """A clock that never finishes this chore."""

    def endless(cursor: Any) -> int:
        (folder / "holds").touch()
        if in_a_statement:
            cursor.execute("SELECT pg_sleep(600)")
        while True:
            Event().wait(1)

    chores.run_once(Chore(name=name, every_seconds=1.0, run=endless))


@pytest.mark.parametrize("in_a_statement", [False, True], ids=["between", "in a statement"])
def test_the_chore_of_a_clock_that_died_holding_its_lock_is_done_by_another(
    inbox: Inbox, tmp_path: Path, in_a_statement: bool
) -> None:
    for chore in chores.CHORES[:2]:
        ours = Chore(name=chore.name, every_seconds=1.0, run=lambda _cursor: 7)
        with forking() as start:
            job = partial(hold_a_chore, tmp_path, chore.name, in_a_statement=in_a_statement)
            process = start(job)
            wait_until((tmp_path / "holds").exists, 60, what="a clock at its chore")
            assert chores.run_once(ours) == 0
            kill(process)
            wait_until(lambda own=ours: chores.run_once(own) == 7, 10, what="the chore done")
        (tmp_path / "holds").unlink()
