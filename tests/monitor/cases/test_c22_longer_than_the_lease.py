"""C22: a handler longer than its lease, in its quick form (tests/journeys has the full one).

Real processes: a parent that renews and a child that works, as in Celery's worker.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from monitor.domain.states import State
from monitor.engine.drain import drain
from monitor.engine.life import Life
from monitor.testing import Inbox
from tests import leasing
from tests.charging import charged, charging
from tests.engine import delivery, send
from tests.rows import one, rows
from tests.waiting import wait_until

LEASE_SECONDS, LONG_SECONDS = 2.0, 5.0
SHORT = 50

Start = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture
def start(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a worker in a group of its own; each is gone after the test."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv(leasing.FOLDER, str(tmp_path))
    monkeypatch.setenv(leasing.LEASE, str(LEASE_SECONDS))
    started: list[subprocess.Popen[bytes]] = []

    def begin() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.leasing"]
        started.append(subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL))
        return started[-1]

    yield begin
    for each in started:
        if each.poll() is None:
            os.killpg(each.pid, signal.SIGKILL)
        each.wait(10)


@contextmanager
def idle_worker() -> Iterator[Life]:
    """A worker in this process that has time."""
    life = Life("idle")
    try:
        yield life
    finally:
        life.end()


def _ledger(folder: Path) -> list[str]:
    path = folder / "ledger"
    return path.read_text().split() if path.exists() else []


def _counted(name: str, label: str = "") -> int:
    statement = (
        "SELECT coalesce(sum(value), 0)::int FROM comboio_rollup_delta"
        " WHERE name = %(name)s AND label = %(label)s"
    )
    return int(one(statement, name=name, label=label))


def test_a_starving_handler_keeps_its_lease_and_short_messages_flow(
    inbox: Inbox, start: Start, tmp_path: Path
) -> None:
    renewals: Counter[int] = Counter()
    with (
        idle_worker() as life,
        charging("keyed", leasing.handler, call=leasing.provider, lease_seconds=LEASE_SECONDS),
    ):
        for how in ("python", "one call"):
            inbox.deliver("test", {"how": how, "seconds": LONG_SECONDS}, key=how, session=how)
        workers = [start(), start()]
        wait_until(lambda: len(_ledger(tmp_path)) == 2, 60, what="both long handlers")
        short = {"how": "short", "seconds": 0}
        send(*[delivery(f"s{number}", short) for number in range(SHORT)])
        assert drain(life, 60.0) == SHORT
        # An idle worker looks again and again for what it might take over.
        while any(each.poll() is None for each in workers):
            assert drain(life, 1.0) == 0
            for message, count in rows("SELECT message_id, renewals FROM comboio_lease"):
                renewals[message] = max(renewals[message], count)
    assert [each.returncode for each in workers] == [0, 0]
    assert {each.state for each in inbox.messages()} == {State.DONE}
    assert len(_ledger(tmp_path)) == len(set(_ledger(tmp_path))) == charged() == SHORT + 2
    assert (len(renewals), min(renewals.values()) >= 4) == (2, True)
    assert _counted("leases", "taken over") == 0


def test_a_frozen_worker_is_replaced_and_its_late_commit_is_refused_and_counted(
    inbox: Inbox, start: Start, tmp_path: Path
) -> None:
    with charging("keyed", lease_seconds=LEASE_SECONDS, call=leasing.provider):
        inbox.deliver("test", {"how": "told", "seconds": 60.0}, key="k")
    worker = start()
    wait_until(lambda: [each.state for each in inbox.effects("k")] == ["completed"], 60)
    os.killpg(worker.pid, signal.SIGSTOP)
    os.waitpid(worker.pid, os.WUNTRACED)  # until it stands still
    # Asked for as the worker asked: the same request, so the recorded result.
    with charging("keyed", leasing.handler, call=leasing.provider, lease_seconds=LEASE_SECONDS):
        (tmp_path / "go").touch()
        assert inbox.run() == 0
        inbox.advance(seconds=LEASE_SECONDS)
        assert inbox.run() == 1
        assert (inbox.state("k"), charged()) == (State.DONE, 1)
        os.killpg(worker.pid, signal.SIGCONT)
        assert worker.wait(60) == 0
    assert (len(_ledger(tmp_path)), charged(), inbox.state("k")) == (1, 1, State.DONE)
    assert (_counted("leases", "taken over"), _counted("leases", "lost")) == (1, 1)
    assert _counted("stale_commits") == 1
