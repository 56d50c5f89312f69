"""The command `demo` against the real web application, with an engine draining beside it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

import examples.github.consumers
import examples.payments.consumers  # noqa: F401 - declares the consumers
from examples.demo import github_set, run
from monitor import conf
from monitor.engine.drain import drain
from monitor.engine.life import Life
from tests.examples.demo.plans import HOOKS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _prepared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Few webhooks: Django's test server takes 40 ms for each request of a keep-alive connection.
    monkeypatch.setattr(github_set, "webhooks", lambda _folder: HOOKS)
    for name in ("PAYMENTS", "GITHUB", "EVENTS"):
        monkeypatch.setenv(f"COMBOIO_SECRET_{name}", f"only-for-this-test-{name}-0123456789")
    monkeypatch.setattr("examples.demo.management.commands.demo.signal.signal", lambda *_: None)
    conf.reset()
    yield
    conf.reset()


@pytest.fixture
def worker() -> Iterator[None]:
    """An engine that drains until the test is over."""
    stop = threading.Event()

    def work() -> None:
        life = Life()
        while not stop.wait(0.02):
            drain(life, seconds=1, should_stop=stop.is_set)
        life.end()
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    stop.set()
    thread.join()


def _demo(url: str, tmp_path: Path, **options: Any) -> dict[str, Any]:
    report = tmp_path / "report.json"
    call_command(
        "demo",
        until_drained=True,
        url=url,
        report=report,
        folder=tmp_path / "demo",
        payments=200,
        **options,
    )
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return found


@pytest.mark.usefixtures("worker", "provider")
def test_the_fixed_set_over_http_comes_out_as_intended(live_server: Any, tmp_path: Path) -> None:
    report = _demo(live_server.url, tmp_path)
    assert report["holds"]
    assert {name: report[name] for name in report["intended"]} == report["intended"]
    assert [report[name] for name in run.FAULTS] == [0, 0, 0, 0]
    assert (report["in_doubt"], report["effects_external"]) == (2, 60)
    assert len(list(tmp_path.glob("demo/*.jsonl"))) == 1


def test_without_a_worker_the_run_is_given_up_in_words(live_server: Any, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Is a worker running"):
        _demo(live_server.url, tmp_path, patience=0.05)


def test_a_missing_secret_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("COMBOIO_SECRET_GITHUB")
    with pytest.raises(CommandError, match="COMBOIO_SECRET_GITHUB is not set"):
        _demo("http://127.0.0.1:9", tmp_path)
