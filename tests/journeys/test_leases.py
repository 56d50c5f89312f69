"""Leases on real workers: long handlers keep theirs, frozen and dead ones lose it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.domain.message import Delivery
from tests.engine import consuming
from tests.journeys.system import System
from tests.rabbitmq import Node
from tests.waiting import wait_until

SETTINGS = "tests.journeys.long.settings"
COMMITTED = "SELECT count(*) FROM auth_group WHERE name LIKE 'long/%'"
STALE = (
    "SELECT coalesce(sum(value), 0)::int FROM ("
    "SELECT name, value FROM comboio_rollup_delta UNION ALL SELECT name, value FROM comboio_total"
    ") counted WHERE name = 'stale_commits'"
)


@pytest.fixture(scope="module")
def installation(rabbitmq: Node) -> Iterator[System]:
    """PostgreSQL of our own, prepared once for all journeys here."""
    made = System(rabbitmq)
    yield made
    made.close()


@pytest.fixture
def system(installation: System, request: pytest.FixtureRequest) -> Iterator[System]:
    """An empty installation."""
    installation.fresh(request.node.name[:50].lower(), "")
    yield installation
    installation.stop_workers()


class Long:
    """The long handlers of one test: their workers, messages and starts."""

    def __init__(self, system: System, folder: Path, lease_seconds: float) -> None:
        self._system = system
        self._starts = folder / "starts"
        self._variables = {
            "DJANGO_SETTINGS_MODULE": SETTINGS,
            "STARTS_FILE": str(self._starts),
            "LONG_LEASE_SECONDS": str(lease_seconds),
        }

    def worker(self, children: int = 1) -> int:
        """Start a worker; its process, which leads a group of its own."""
        return self._system.start_worker(children=children, **self._variables).pid

    def send(self, *works: tuple[str, float]) -> None:
        """One message for each (how, seconds), each in a session of its own."""
        with consuming(lambda _payload, _message: None, name="long.work", source="long"):
            self._system.store([_delivery(how, seconds) for how, seconds in works])

    def starts(self) -> list[tuple[str, float]]:
        """(key, time) of each start so far."""
        if not self._starts.exists():
            return []
        rows = (line.rsplit(" ", 1) for line in self._starts.read_text().splitlines())
        return [(key, float(at)) for key, at in rows]


def _delivery(how: str, seconds: float) -> Delivery:
    body = json.dumps({"how": how, "seconds": seconds}).encode()
    return Delivery(source="long", origin="long", key=how, session=how, payload=body)


def test_handlers_of_45_seconds_keep_a_lease_of_10_also_when_they_starve_their_process(
    system: System, tmp_path: Path
) -> None:
    long = Long(system, tmp_path, lease_seconds=10)
    long.send(("loop", 45), ("one call", 45))
    long.worker(children=2)
    renewals: Counter[int] = Counter()

    def are_done() -> bool:
        for message, count in system.ask("SELECT message_id, renewals FROM comboio_lease"):
            renewals[message] = max(renewals[message], count)
        return system.number(COMMITTED) == 2

    wait_until(are_done, 150, what="both handlers")
    assert sorted(key for key, _ in long.starts()) == ["loop", "one call"]
    assert min(renewals.values()) >= 4
    assert system.number("SELECT count(*) FROM comboio_lease") == 0


def test_a_frozen_worker_loses_its_session_and_cannot_commit_when_it_wakes(
    system: System, tmp_path: Path
) -> None:
    long = Long(system, tmp_path, lease_seconds=10)
    frozen = long.worker()
    long.send(("sleep", 6))
    wait_until(long.starts, 20, what="the first start")
    os.killpg(frozen, signal.SIGSTOP)
    begun = time.monotonic()
    long.worker()
    wait_until(lambda: len(long.starts()) == 2, 30, what="the second start")
    wait_until(lambda: time.monotonic() - begun > 15, 30, what="fifteen seconds")
    os.killpg(frozen, signal.SIGCONT)
    wait_until(lambda: system.number(COMMITTED) == 1, 30, what="the effect")
    wait_until(lambda: system.number(STALE) >= 1, 30, what="the refused commit")
    assert system.number(COMMITTED) == 1
    assert system.number("SELECT count(*) FROM comboio_done") == 1


def test_the_session_of_a_killed_worker_starts_elsewhere_within_the_lease_and_two_seconds(
    system: System, tmp_path: Path
) -> None:
    lease_seconds = 5.0
    long = Long(system, tmp_path, lease_seconds)
    killed = long.worker()
    long.send(("sleep", 15))
    wait_until(long.starts, 20, what="the first start")
    long.worker()  # stands by: the session is leased
    os.killpg(killed, signal.SIGKILL)
    died = time.time()
    wait_until(lambda: len(long.starts()) == 2, 30, what="the second start")
    assert long.starts()[1][1] - died <= lease_seconds + 2
    wait_until(lambda: system.number(COMMITTED) == 1, 40)
