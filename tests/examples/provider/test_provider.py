"""The provider of the payments example: what each of its kinds does, and its faults."""

from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.provider import ledger
from examples.provider.faults import Fault, Faults
from examples.provider.ledger import Ledger
from examples.provider.server import KINDS, Provider

ROOT = Path(__file__).parents[3]
Start = Callable[..., Provider]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a provider on a free port; every one of a test has the same ledger file."""
    running: list[Provider] = []

    def begin(**settings: Any) -> Provider:
        provider = Provider(Ledger(tmp_path / "ledger"), **settings)
        running.append(provider)
        threading.Thread(target=provider.serve_forever, args=(0.01,), daemon=True).start()
        return provider

    yield begin
    for provider in running:
        provider.shutdown()
        provider.server_close()
        provider.ledger.close()


def ask(provider: Provider, method: str, path: str, body: Any = None, key: str = "") -> Any:
    """Status and JSON of the answer; 0 when the connection was cut."""
    connection = http.client.HTTPConnection(provider.url.removeprefix("http://"), timeout=5)
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    with contextlib.closing(connection):
        try:
            connection.request(method, path, text, {"Idempotency-Key": key} if key else {})
            response = connection.getresponse()
        except (http.client.HTTPException, ConnectionError):
            return 0, None
        return response.status, json.load(response)


def charge(provider: Provider, kind: str, key: str, amount: int = 5, **more: Any) -> Any:
    body = {"amount_cents": amount, **more}
    return ask(provider, "POST", f"/{kind}/charges", body, key)


def times(tmp_path: Path) -> dict[str, int]:
    return dict(ledger.times_by_key(ledger.read(tmp_path / "ledger")))


def test_keyed_charges_once_for_a_key_and_answers_the_same(start: Start, tmp_path: Path) -> None:
    provider = start()
    first, again = charge(provider, "keyed", "k"), charge(provider, "keyed", "k")
    assert (first[0], again[0]) == (201, 200)
    assert first[1] == again[1] == {"id": "ch_1", "status": "charged", "amount_cents": 5}
    assert charge(provider, "keyed", "k", 6)[0] == 400
    assert times(tmp_path) == {"k": 1}


def test_keyed_remembers_its_keys_after_a_restart(start: Start, tmp_path: Path) -> None:
    first = charge(start(), "keyed", "k")
    assert charge(start(), "keyed", "k") == (200, first[1])
    assert times(tmp_path) == {"k": 1}


@pytest.mark.parametrize("kind", ["queryable", "neither"])
def test_the_other_kinds_charge_each_time(start: Start, tmp_path: Path, kind: str) -> None:
    provider = start()
    assert [charge(provider, kind, "k")[0] for _ in range(2)] == [201, 201]
    assert times(tmp_path) == {"k": 2}


def test_only_the_queryable_one_can_be_asked(start: Start) -> None:
    provider = start()
    for kind in KINDS:
        charge(provider, kind, "k")
    found = {kind: ask(provider, "GET", f"/{kind}/charges/k")[0] for kind in KINDS}
    assert found == {"keyed": 405, "queryable": 200, "neither": 405}
    assert ask(provider, "GET", "/queryable/charges/other")[0] == 404
    assert ask(provider, "GET", "/healthz") == (200, {"status": "up"})


def test_a_second_call_while_the_first_runs_is_told_so(start: Start) -> None:
    provider = start(faults=Faults(slow_seconds=0.3))
    answers = []

    def slowly() -> None:
        answers.append(charge(provider, "keyed", "k", pretend="slow"))

    running = threading.Thread(target=slowly)
    running.start()
    while not provider.ledger.find("keyed", "k"):
        assert running.is_alive()
    assert charge(provider, "keyed", "k", pretend="slow")[0] == 409
    running.join()
    assert answers[0][0] == 201


def test_a_request_can_ask_for_its_fault_once(start: Start, tmp_path: Path) -> None:
    provider = start(closed_seconds=60)
    assert charge(provider, "keyed", "u", pretend="unavailable")[0] == 503
    assert times(tmp_path) == {}
    assert charge(provider, "keyed", "u", pretend="unavailable")[0] == 201
    assert charge(provider, "queryable", "d", pretend="closed") == (0, None)
    assert times(tmp_path) == {"u": 1, "d": 1}
    assert ask(provider, "GET", "/queryable/charges/d")[0] == 503  # closed for a while


@pytest.mark.parametrize(
    ("path", "body", "key", "status"),
    [
        ("/keyed/charges", {"amount_cents": 0}, "k", 422),
        ("/keyed/charges", {"amount_cents": True}, "k", 422),
        ("/keyed/charges", {"amount_cents": 5}, "", 400),
        ("/keyed/charges", b"{", "k", 400),
        ("/keyed/charges", b"7", "k", 400),
        ("/keyed/charges", b" " * 70_000, "k", 400),
        ("/other/charges", {"amount_cents": 5}, "k", 404),
    ],
)
def test_what_it_does_not_take(
    start: Start, tmp_path: Path, path: str, body: Any, key: str, status: int
) -> None:
    assert ask(start(), "POST", path, body, key)[0] in (status, 0 if len(str(body)) > 60_000 else 1)
    assert times(tmp_path) == {}


def test_faults_come_as_often_as_asked_and_the_same_each_time() -> None:
    faults = Faults(seed="s", unavailable=0.1, drop=0.1, slow=0.02)
    chosen = [faults.choose(f"key-{n}", 1) for n in range(4000)]
    assert chosen == [faults.choose(f"key-{n}", 1) for n in range(4000)]
    assert chosen.count(Fault.UNAVAILABLE) == pytest.approx(400, abs=80)
    assert chosen.count(Fault.DROP) == pytest.approx(400, abs=80)
    assert chosen.count(Fault.SLOW) + chosen.count(Fault.LATE) == pytest.approx(80, abs=40)
    assert chosen != [faults.choose(f"key-{n}", 2) for n in range(4000)]


def test_it_runs_as_a_process_and_says_where(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "examples.provider", "--ledger", str(tmp_path / "ledger")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        try:
            host = address.removeprefix("http://")
            with contextlib.closing(http.client.HTTPConnection(host, timeout=5)) as connection:
                connection.request(
                    "POST", "/keyed/charges", b'{"amount_cents":5}', {"Idempotency-Key": "k"}
                )
                assert connection.getresponse().status == 201
        finally:
            process.kill()
    assert times(tmp_path) == {"k": 1}
