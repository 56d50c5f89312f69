"""C14: PostgreSQL restarts at once while workers are busy; they go on without anybody's hand."""

from __future__ import annotations

import http.client
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from monitor.domain.message import Delivery
from tests.engine import consuming
from tests.forked import noted
from tests.journeys.system import System
from tests.waiting import wait_until

SETTINGS = "tests.monitor.cases.restart.settings"
MESSAGES, CHARGES, SESSIONS = 200, 40, 40
WAITING = ("c0", "c1")  # in the middle of their calls when the database goes away
AGAIN_SECONDS = 10
TOKEN = "a-token-of-this-case"  # noqa: S105
SOURCE = """
[sources.restart]
kind = "http"
format = "json"
key = "id"
type = "type"
[sources.restart.auth]
scheme = "bearer"
secrets = [{ env = "RESTART_TOKEN" }]
"""
DONE = "SELECT count(*) FROM comboio_done"
IN_DOUBT = "SELECT m.key FROM comboio_in_doubt x JOIN comboio_message m ON m.id = x.id"


@pytest.fixture
def system() -> Iterator[System]:
    """A durable PostgreSQL of our own; Celery's wake-ups stay inside each worker."""
    made = System(SimpleNamespace(url="memory://"))
    made.fresh("restart", SOURCE)
    yield made
    made.close()


class Web:
    """The real entrance."""

    def __init__(self, port: int) -> None:
        self._port = port

    def post(self, key: str) -> tuple[int, str | None]:
        """Send one booking; status and Retry-After."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        body = json.dumps({"id": key, "type": "book"})
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        try:
            connection.request("POST", "/ingest/restart", body, headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.getheader("Retry-After")
        finally:
            connection.close()

    def is_up(self) -> bool:
        """Whether it answers."""
        with suppress(OSError, http.client.HTTPException):
            return self.post("first")[0] in (200, 202)
        return False


def _deliveries() -> list[Delivery]:
    made = []
    for n in range(MESSAGES):
        is_charge = n < CHARGES
        key = f"c{n}" if is_charge else f"b{n}"
        made.append(
            Delivery(
                source="restart",
                origin="restart",
                key=key,
                type="charge" if is_charge else "book",
                # Nobody stands behind a charge: it would wait for a person's verdict.
                session=key if is_charge else f"s{n % SESSIONS}",
                payload=json.dumps({"waits": key in WAITING}).encode(),
            )
        )
    return made


def _ignore(_payload: object, _message: object) -> None:
    raise AssertionError("only declares its consumer")


def _store(system: System) -> None:
    with (
        consuming(_ignore, name="restart.book", source="restart", types=("book",)),
        consuming(_ignore, name="restart.charge", source="restart", types=("charge",)),
    ):
        system.store(_deliveries())


def test_all_goes_on_by_itself_and_what_was_cut_is_in_doubt_and_not_repeated(
    system: System, tmp_path: Path
) -> None:
    variables = {
        "DJANGO_SETTINGS_MODULE": SETTINGS,
        "RESTART_FOLDER": str(tmp_path),
        "RESTART_TOKEN": TOKEN,
    }
    web = Web(system.start_web(**variables))
    wait_until(web.is_up, 60, what="the entrance")
    _store(system)
    worker = system.start_worker(children=4, **variables)
    ledger = tmp_path / "ledger"
    wait_until(lambda: set(WAITING) <= set(noted(ledger)), 60, what="the calls that wait")
    wait_until(lambda: system.number(DONE) >= MESSAGES / 2, 60, what="half of the messages")
    system.stop_server_at_once()
    (tmp_path / "cut").touch()
    assert [web.post("meanwhile") for _ in range(2)] == [(503, "5")] * 2
    system.start_server()
    before = system.number(DONE)
    assert before < MESSAGES - len(WAITING), "the restart came too late"
    wait_until(lambda: system.number(DONE) > before, AGAIN_SECONDS, what="workers at work again")
    wait_until(lambda: web.post("meanwhile")[0] in (200, 202), AGAIN_SECONDS, what="ingest again")
    wait_until(lambda: _is_settled(system), 60, what=f"all settled\n{system.log()}")
    assert worker.poll() is None
    _check(system, ledger)
    assert "prepared statement" not in (system.folder / "worker.log").read_text()


def _is_settled(system: System) -> bool:
    return system.number("SELECT count(*) FROM comboio_ready") == 0


def _check(system: System, ledger: Path) -> None:
    in_doubt = {key for (key,) in system.ask(IN_DOUBT)}
    called = Counter(noted(ledger))
    assert set(WAITING) <= in_doubt < set(called)
    assert set(called.values()) == {1}
    assert set(called) == {f"c{n}" for n in range(CHARGES)}
    assert system.number("SELECT count(*) FROM comboio_dead") == 0
    names = [name for (name,) in system.ask("SELECT name FROM auth_group ORDER BY id")]
    effects = [name.partition("/") for name in names if "/" in name]
    wanted = {each.key for each in _deliveries()} | {"first", "meanwhile"}
    assert sorted(key for _, _, key in effects) == sorted(wanted - in_doubt)
    for n in range(SESSIONS):
        own = [int(key[1:]) for session, _, key in effects if session == f"s{n}"]
        assert own == sorted(own)
