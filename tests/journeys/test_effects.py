"""Thousands of calls to a faulty provider by workers that are killed before, in and after them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from examples.provider import ledger
from monitor.domain.message import Delivery
from tests import mortal
from tests.engine import delivery, send
from tests.rows import one, rows
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

EACH = 700  # operations of each kind
IN_A_SESSION = 5
SECONDS = 180  # the promise is 90 on a quiet machine; a busy one gets more
ROOT = Path(__file__).parents[2]
FAULTS = ("--unavailable=0.1", "--drop=0.05", "--closed=0.05", "--slow=0.01", "--slow-seconds=1")

# Whatever may still move by itself: not what only a person can decide.
MOVING = """
    SELECT (SELECT count(*) FROM comboio_ready) + (SELECT count(*) FROM comboio_in_doubt x
      JOIN comboio_effect e ON e.id = x.effect_id WHERE e.kind <> 'neither')"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Where the processes of a run wrote down what they did."""

    folder: Path
    workers: subprocess.Popen[bytes]

    @property
    def errors(self) -> str:
        """The end of what the workers complained about."""
        return (self.folder / "errors").read_text(errors="replace")[-3000:]

    def lines(self, name: str) -> list[str]:
        """What was noted under a name."""
        return (self.folder / name).read_text(encoding="utf-8").splitlines()

    def is_over(self) -> bool:
        """Whether nothing moves any more. Fails when the workers ended by themselves."""
        assert self.workers.poll() is None, self.errors
        return bool(one(MOVING) == 0)

    def unanswered(self) -> set[str]:
        """The keys of calls that began and got no answer."""
        said: dict[str, list[str]] = defaultdict(list)
        for line in self.lines("calls"):
            key, word = line.split()
            said[key].append(word)
        return {
            key
            for key, words in said.items()
            if words.count("begins") > words.count("answered") + words.count("denied")
        }


def deliveries() -> list[Delivery]:
    """Operations of each kind; those of the third have no followers, which would wait for ever."""
    return [
        delivery(
            f"{kind}-{n}",
            {"amount_cents": n + 1},
            type=kind,
            session=f"{kind}-{n if kind == 'neither' else n // IN_A_SESSION}",
        )
        for n in range(EACH)
        for kind in mortal.KINDS
    ]


@contextmanager
def running(
    *words: str, end: int = signal.SIGKILL, **how: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """A process of ours, ended with this signal."""
    process = subprocess.Popen([sys.executable, "-m", *words], cwd=ROOT, **how)
    try:
        yield process
    finally:
        process.send_signal(end)
        process.wait(10)


@pytest.fixture
def run(tmp_path: Path, database_url: str) -> Iterator[Run]:
    """A provider, and workers that die, on the test database."""
    (tmp_path / "killed").mkdir()
    ledger_file = str(tmp_path / "ledger")
    words = ("examples.provider", "--ledger", ledger_file, *FAULTS, "--closed-seconds=1")
    mortal.declare()
    with (
        running(*words, stdout=subprocess.PIPE) as provider,
        (tmp_path / "errors").open("wb") as errors,
    ):
        assert provider.stdout is not None
        environment = {
            **os.environ,
            "DATABASE_URL": database_url,
            "PROVIDER_URL": provider.stdout.readline().decode().strip(),
            "FOLDER": str(tmp_path),
        }
        provider.stdout.close()
        how = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": errors}
        for first in range(0, EACH * len(mortal.KINDS), 300):
            send(*deliveries()[first : first + 300])
        with running("tests.mortal", end=signal.SIGTERM, **how) as workers:
            yield Run(folder=tmp_path, workers=workers)
    mortal.retract()


def test_no_operation_is_made_twice_or_lost_and_exactly_the_unanswered_are_in_doubt(
    run: Run,
) -> None:
    wait_until(run.is_over, SECONDS, what="all operations settled")
    deaths = Counter(run.lines("deaths"))
    assert set(deaths) == set(mortal.POINTS)
    assert deaths.total() > EACH * len(mortal.KINDS) * 0.03
    _check_the_outside(run)
    _check_the_inside()


def _check_the_outside(run: Run) -> None:
    charged = ledger.times_by_key(ledger.read(run.folder / "ledger"))
    assert [key for key, times in charged.items() if times > 1] == []
    recorded: dict[str, set[str]] = defaultdict(set)
    for kind, key in rows("SELECT kind, key FROM comboio_effect"):
        recorded[kind].add(key)
    assert {kind: len(keys) for kind, keys in recorded.items()} == dict.fromkeys(mortal.KINDS, EACH)
    in_doubt = {
        key
        for (key,) in rows(
            "SELECT e.key FROM comboio_in_doubt x JOIN comboio_effect e ON e.id = x.effect_id"
        )
    }
    assert in_doubt == run.unanswered() & recorded["neither"]
    assert len(in_doubt) > EACH * 0.08
    everything = set().union(*recorded.values())
    assert everything - in_doubt <= set(charged) <= everything


def _check_the_inside() -> None:
    doubts = one("SELECT count(*) FROM comboio_in_doubt")
    done = one("SELECT count(*) FROM comboio_done")
    assert one("SELECT count(*) FROM comboio_dead") == 0
    assert done + doubts == EACH * len(mortal.KINDS)
    assert one("SELECT count(*) FROM comboio_lease") == 0
    booked: dict[str, list[int]] = defaultdict(list)
    for (name,) in rows("SELECT name FROM auth_group WHERE name LIKE '%%-%%/%%' ORDER BY id"):
        session, number = name.split("/")
        booked[session].append(int(number))
    assert sum(len(numbers) for numbers in booked.values()) == done
    for numbers in booked.values():
        assert numbers == sorted(set(numbers))
