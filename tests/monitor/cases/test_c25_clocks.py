"""C25: workers whose clocks are wrong by minutes: only the database's clock decides."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.test import Client

from monitor.domain.retry import Retry
from monitor.testing import Inbox
from tests import entrance, factories, leasing
from tests.charging import charged, charging
from tests.dashboard import looking
from tests.dashboard.conftest import user
from tests.engine import consuming, delivery, drain_all, send
from tests.monitor.cases.skewed import believed
from tests.rows import one, rows
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

OFF = (-300.0, 0.0, 300.0)
ODD_TIMES = (
    "2099-01-01T00:00:00Z",
    "2026-03-29T02:30:00",
    "1774751400000",
    "0001-01-01",
    "yesterday",
)
LEASE_SECONDS = 2.0
SECONDS = 60

Start = Callable[[float], "subprocess.Popen[bytes]"]


@pytest.fixture
def start(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a worker whose clock is so many seconds off; each is gone after the test."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv(leasing.FOLDER, str(tmp_path))
    monkeypatch.setenv(leasing.LEASE, str(LEASE_SECONDS))
    started: list[subprocess.Popen[bytes]] = []

    def begin(off: float) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.monitor.cases.skewed", str(off)]
        started.append(subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL))
        wait_until(believed(off).exists, SECONDS)
        return started[-1]

    yield begin
    for each in started:
        if each.poll() is None:
            os.killpg(each.pid, signal.SIGKILL)
        each.wait(10)


def _ledger(folder: Path) -> list[str]:
    path = folder / "ledger"
    return path.read_text().split() if path.exists() else []


def _renewals() -> int:
    return max((row[0] for row in rows("SELECT renewals FROM comboio_lease")), default=0)


@pytest.mark.parametrize("holder", [OFF[0], OFF[-1]])
def test_no_lease_is_taken_early_nor_kept_too_long_whatever_the_clocks_say(
    inbox: Inbox, start: Start, tmp_path: Path, holder: float
) -> None:
    with charging("keyed", leasing.handler, call=leasing.provider, lease_seconds=LEASE_SECONDS):
        inbox.deliver("test", {"how": "told", "seconds": SECONDS}, key="k", session="s")
        first = start(holder)
        wait_until(lambda: len(_ledger(tmp_path)) == 1, SECONDS, what="the holder's call")
        for off in OFF:
            if off != holder:
                start(off)
        wait_until(lambda: _renewals() >= 4, SECONDS, what="renewals while the others look on")
        ((fence, message),) = rows("SELECT fence, message_id FROM comboio_lease")
        os.killpg(first.pid, signal.SIGKILL)
        first.wait(10)
        expires_at = one("SELECT expires_at FROM comboio_lease")
        wait_until(lambda: _fence() not in (None, fence), SECONDS, what="another holder")
        taken_at = one("SELECT taken_at FROM comboio_lease")
        (tmp_path / "go").touch()
        wait_until(lambda: charged() == 1, SECONDS, what="the effect")
    assert expires_at <= taken_at
    assert one("SELECT id FROM comboio_done") == message
    assert len(set(_ledger(tmp_path))) == 1  # whoever called, called with the same key
    for off in OFF:
        assert abs(float(believed(off).read_text()) - time.time() - off) < SECONDS


def _fence() -> int | None:
    found = rows("SELECT fence FROM comboio_lease")
    return found[0][0] if found else None


@pytest.mark.parametrize("off", OFF)
def test_a_retry_is_due_by_the_clock_of_the_database(off: float) -> None:
    starts: list[str] = []

    def fail(_payload: object, message: object) -> None:
        starts.append(message.key)  # type: ignore[attr-defined]
        raise ValueError("x")

    retry = Retry(limit=5, base_seconds=200.0, cap_seconds=200.0)
    wrong = datetime.now(UTC) + timedelta(seconds=off)
    with consuming(fail, retry=retry), time_machine.travel(wrong, tick=True):
        send(delivery("k", session="s"))
        drain_all()
        before = len(starts)
        drain_all()
        assert len(starts) == before
    ((due, received),) = rows(
        "SELECT extract(epoch FROM retry_at - since)::float8,"
        " extract(epoch FROM clock_timestamp() - received_at)::float8"
        " FROM comboio_gate, comboio_message"
    )
    assert 0 < due <= 200.0
    assert 0 <= received < SECONDS


def test_odd_times_of_senders_are_kept_as_text_and_order_nothing() -> None:
    order: list[str] = []
    with (
        entrance.configured(events=entrance.EVENTS),
        consuming(lambda _, message: order.append(message.key), source="events"),
    ):
        for number, text in enumerate(ODD_TIMES):
            event = {"ce-specversion": "1.0", "ce-type": "t", "ce-source": "s", "ce-time": text}
            headers = {**entrance.TOKEN, **event, "ce-id": f"m{number}", "ce-partitionkey": "one"}
            assert entrance.post("events", b"{}", headers=headers).status == 202
        drain_all()
    assert order == [f"m{number}" for number in range(len(ODD_TIMES))]
    kept = [row[0] for row in rows("SELECT headers->>'ce-time' FROM comboio_message ORDER BY id")]
    assert kept == list(ODD_TIMES)
    late = "SELECT max(abs(extract(epoch FROM clock_timestamp() - received_at)))::float8"
    assert one(f"{late} FROM comboio_message") < SECONDS
    assert one(f"{late.replace('received_at', 'seen_at')} FROM comboio_dedup") < SECONDS


@pytest.mark.parametrize("off", OFF)
def test_no_age_on_a_page_is_negative_whatever_the_clock_of_the_web_says(off: float) -> None:
    number = factories.message(factories.consumer(), state="dead")
    viewer = Client()
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=off), tick=True):
        viewer.force_login(user("vera", "viewer"))
        for path in ("/", "/dead-letters/", f"/messages/{number}/", "/alerts/"):
            html = viewer.get(path).content.decode()
            assert "data-age" in html or path == "/"
            assert not re.search(r"data-age>\s*-", html)
            assert not re.search(r"-\d+ (s|min|h|d)\b", looking.Markup(html).text)
