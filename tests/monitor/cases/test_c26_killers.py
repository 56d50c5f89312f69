"""C26: messages that kill their worker, on a real Celery worker with two children."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import psutil
import pytest

from config.launch.process import kill_group, spawn
from monitor.domain.consumer import Consumer
from monitor.domain.message import Delivery
from tests.engine import consuming, delivery, send
from tests.rows import one, rows
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).parents[3]
CHILDREN, NEIGHBOURS = 2, 4
SECONDS = 45
CRASHED, POISON = "crashed worker", "poison"
FATES = {
    "killed": (CRASHED, "WorkerCrashError"),
    "leaves": (CRASHED, "WorkerCrashError"),
    "exits": (CRASHED, "WorkerCrashError"),
    "ignores": (CRASHED, "WorkerCrashError"),
    "no memory": (POISON, "MemoryError"),
    "sleeps": (POISON, "HandlerTimeoutError"),
}


@pytest.fixture
def worker(database_url: str, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A Celery worker with the killing consumer, gone with all its children after the test."""
    ready = tmp_path / "ready"
    words = ["-m", "celery", "-A", "config.celery", "worker", "-c", str(CHILDREN)]
    started = spawn(
        [sys.executable, *words, "--without-gossip", "--without-mingle"],
        death_signal=signal.SIGKILL,
        environment={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.monitor.cases.killing.settings",
            "DATABASE_URL": database_url,
            "BROKER_URL": "memory://",
            "COMBOIO_ROLE": "worker",
            "COMBOIO_READY": str(ready),
            "KILLING_FOLDER": str(tmp_path),
            "C_FORCE_ROOT": "1",
        },
        output=tmp_path / "worker.log",
        folder=ROOT,
    )
    wait_until(ready.exists, SECONDS, what="a ready worker")
    yield started
    started.send_signal(signal.SIGTERM)
    try:
        started.wait(10)
    except subprocess.TimeoutExpired:
        started.kill()
        started.wait()
    kill_group(started)


def test_each_killer_is_dead_after_three_starts_and_all_others_are_done(
    worker: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    with ExitStack() as declared:
        for way in FATES:
            name = f"killing.{way.replace(' ', '_')}"
            declared.enter_context(_consuming(name, way))
        send(*[_delivery(way, n) for way in FATES for n in range(1 + NEIGHBOURS)])
    wait_until(lambda: one("SELECT count(*) FROM comboio_ready") == 0, SECONDS)
    assert _dead() == FATES
    starts = Counter((tmp_path / "starts").read_text().split("\n"))
    crashed = [way for way, fate in FATES.items() if fate[0] == CRASHED]
    assert {way: starts[way] for way in crashed} == dict.fromkeys(crashed, 3)
    assert _attempts() == {"no memory": 3, "sleeps": 3}
    why = "SELECT DISTINCT key FROM comboio_event e JOIN comboio_message m ON m.id = e.message_id"
    assert len(rows(f"{why} WHERE kind = 'worker killed'")) == 1, "who ignored its limit is told"
    effects = rows("SELECT name FROM auth_group WHERE name LIKE 'killing/%%'")
    assert sorted(effects) == sorted(
        (f"killing/{way}{n}",) for way in FATES for n in range(1, 1 + NEIGHBOURS)
    )
    wait_until(lambda: len(_children(worker)) == CHILDREN, 10, what="a pool of two again")
    wait_until(lambda: not _left_open(), 10, what="no session left in a transaction")


def _consuming(name: str, way: str) -> AbstractContextManager[Consumer]:
    return consuming(lambda _payload, _message: None, name=name, source="killing", types=(way,))


def _delivery(way: str, number: int) -> Delivery:
    """The killer first, its neighbours behind it: all may stand in one batch."""
    body = {"ends": number == 0}
    return delivery(f"{way}{number or ''}", body, source="killing", type=way)


def _dead() -> dict[str, tuple[str, str]]:
    found = rows(
        "SELECT key, reason, error_class FROM comboio_dead JOIN comboio_message USING (id)"
    )
    return {key: (reason, error) for key, reason, error in found}


def _attempts() -> dict[str, int]:
    """Of those whose failures were counted by attempts, not by the death of their worker."""
    return dict(
        rows(
            "SELECT key, attempts FROM comboio_dead JOIN comboio_message USING (id)"
            " WHERE reason = 'poison'"
        )
    )


def _children(worker: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return psutil.Process(worker.pid).children()


def _left_open() -> list[tuple[str]]:
    return rows(
        "SELECT application_name FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND state LIKE 'idle in transaction%%'"
    )
