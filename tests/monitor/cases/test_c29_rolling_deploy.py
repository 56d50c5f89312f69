"""C29: during a rolling deploy a type is known to some workers only, and one type to nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from django.test import Client

from tests.dashboard import looking
from tests.dashboard.conftest import user
from tests.engine import consuming, delivery, drain_all, send
from tests.monitor.cases import rolling
from tests.rows import one, rows
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

OLD, NEW = ("order.v1",), ("order.v1", "order.v2")
WORKERS = {"old-1": OLD, "old-2": OLD, "new-1": NEW, "new-2": NEW}
MESSAGES = 100
RAW = b'{"order" : 7.50, "note":"caf\\u00e9"}\r\n'


class Deploy:
    """Worker processes of the old and the new release."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._environment = {**os.environ, "DATABASE_URL": url, rolling.FOLDER: str(folder)}
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, *names: str) -> None:
        """Start these workers; returns when each of them has looked for work once."""
        for name in names:
            command = [sys.executable, "-m", "tests.monitor.cases.rolling", name, *WORKERS[name]]
            self._started.append(subprocess.Popen(command, env=self._environment))
        wait_until(lambda: all((self._folder / name).exists() for name in names), 60)

    def stop(self) -> list[int]:
        """Their exit statuses; a worker that does not end is killed."""
        (self._folder / "stop").touch()
        statuses = []
        for each in self._started:
            try:
                statuses.append(each.wait(20))
            except subprocess.TimeoutExpired:
                each.kill()
                statuses.append(each.wait())
        self._started.clear()
        return statuses


@pytest.fixture
def deploy(database_url: str, tmp_path: Path) -> Iterator[Deploy]:
    """Nothing runs yet; nothing is left running."""
    made = Deploy(tmp_path, database_url)
    yield made
    made.stop()


def test_old_workers_leave_a_new_type_alone_and_new_ones_run_all_of_it(deploy: Deploy) -> None:
    with ExitStack() as web:
        for kind in NEW:
            web.enter_context(rolling.knowing(kind))
        send(*[delivery(f"m{n}", type="order.v2", session=f"s{n % 7}") for n in range(MESSAGES)])
        deploy.start("old-1", "old-2")
        assert one("SELECT count(*) FROM comboio_ready") == MESSAGES
        assert one("SELECT count(*) FROM comboio_gate") == 0
        deploy.start("new-1", "new-2")
        send(*[delivery(f"m{n}", type="order.v1") for n in range(MESSAGES)])
        wait_until(lambda: one("SELECT count(*) FROM comboio_ready") == 0, 60)
    assert deploy.stop() == [0] * len(WORKERS)
    effects = [
        row[0] for row in rows("SELECT name FROM auth_group WHERE name LIKE '%% order.v2/%%'")
    ]
    assert Counter(name.partition("/")[2] for name in effects) == {
        f"m{n}": 1 for n in range(MESSAGES)
    }
    assert {name.partition("-")[0] for name in effects} == {"new"}
    assert rows("SELECT DISTINCT attempts FROM comboio_done") == [(1,)]
    assert one("SELECT count(*) FROM comboio_done") == 2 * MESSAGES
    assert one("SELECT count(*) FROM comboio_dead") == 0


def test_a_type_nobody_knows_is_dead_as_it_came_visible_and_runs_once_a_handler_exists() -> None:
    seen: list[object] = []
    operator = Client()
    operator.force_login(user("olga", "operator"))
    with rolling.knowing("order.v1"):
        send(replace(delivery("k", type="order.v3"), payload=RAW))
        drain_all()
    assert rows("SELECT state FROM comboio_message_state") == [("dead",)]
    assert rows("SELECT payload FROM comboio_message") == [(RAW,)]
    number = one("SELECT id FROM comboio_dead WHERE reason = 'no handler' AND attempts = 0")
    assert "No consumer takes the type “order.v3”" in _text(operator, "/dead-letters/")
    page, verb = f"/messages/{number}/", f"/dead-letters/{number}/requeue/"
    with consuming(lambda _, message: seen.append(message.payload), types=("order.v3",)):
        values = {"seen": looking.seen(operator, page, verb), "next": page}
        assert operator.post(verb, values).status_code == 303
        drain_all()
    assert seen == [RAW]
    assert one("SELECT count(*) FROM comboio_dead") == 0


def _text(client: Client, path: str) -> str:
    return client.get(path).content.decode()
