"""One run: start the world, send while it is struck, heal, drain, tidy up, export."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from config.launch.bootstrap import ROOT
from monitor.store.sql import load
from proof import history
from proof.checkers import facts
from proof.profiles import Profile
from proof.world.world import World

_TABLES = Path(__file__).with_name("tables.sql")
SQL = load(__file__)
_POLL_SECONDS = 0.2
_MOST_ROUNDS = 12
_LATE_SHARE = 0.25  # of the time of the profile, in which late faults may still strike
_GIVE_UP_SECONDS = 900.0


class RunError(Exception):
    """The run itself could not be carried out; nothing is proved or disproved."""


@dataclass(slots=True, kw_only=True)
class Record:
    """What a run writes down beside facts and history, as run.json."""

    profile: str
    seed: int
    has_queue: bool = False
    struck: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    send_seconds: float = 0.0
    drain_seconds: float | None = None
    innocents: int = 0
    settled: int = 0
    seconds: float = 0.0
    commit: str = ""

    def write(self, folder: Path) -> None:
        """Keep it in the folder of the run."""
        values = {name: getattr(self, name) for name in self.__slots__}
        (folder / "run.json").write_text(json.dumps(values, indent=1), encoding="utf-8")


def run(profile: Profile, seed: int, folder: Path) -> Path:
    """Carry a run out in an empty folder; the folder then holds all that the checkers need.

    Raises RunError when it could not be carried out.
    """
    begun = time.monotonic()
    record = Record(profile=profile.name, seed=seed, commit=_commit())
    _make(folder)
    world = World(folder, seed, profile)
    record.has_queue = bool(world.amqp_url)
    try:
        world.start()
        with psycopg.connect(world.database_url) as connection:
            connection.execute(_TABLES.read_text(encoding="utf-8"))
        world.strike()
        _strike(world, record, profile)
        record.drain_seconds = _drain(world)
        _tidy_up(world, record)
        world.stop_workers()
        _tidy_up(world, record)
        facts.export(world.database_url, folder / "facts")
    finally:
        world.stop()
    _collect(folder)
    record.seconds = round(time.monotonic() - begun, 1)
    record.write(folder)
    return folder


def _strike(world: World, record: Record, profile: Profile) -> None:
    """Send while the faults strike; afterwards all is healed."""
    while not world.fleet.pids():
        if not world.fleet.is_running():
            raise RunError(f"The fleet did not start: {_end_of(world.fleet.log)}")
        time.sleep(_POLL_SECONDS)
    begun = time.monotonic()
    _send(world, record, profile)
    record.send_seconds = round(time.monotonic() - begun, 1)
    deadline = time.monotonic() + profile.seconds * _LATE_SHARE
    while not world.is_struck_enough() and time.monotonic() < deadline and _moving(world):
        time.sleep(_POLL_SECONDS)
    record.struck = world.heal()
    record.missing = sorted(set(record.struck.pop("not_possible", {}).values()))
    cuts = world.proxy.cuts()
    record.struck["commits_cut"] = len(cuts)
    record.struck["commits_unknown_committed"] = sum(cut["committed"] is True for cut in cuts)


def _send(world: World, record: Record, profile: Profile) -> None:
    words = [profile.name, str(record.seed), str(profile.seconds), world.web_url]
    words += [world.amqp_url] if record.has_queue else []
    done = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", "proof.workload", *words],
        env=world.environment,
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=3 * profile.seconds + _GIVE_UP_SECONDS,
    )
    if done.returncode:
        raise RunError(f"The senders gave up: {done.stderr[-2000:]}")


def _drain(world: World) -> float:
    """Wait until nothing moves by itself any more; how long that took."""
    begun = time.monotonic()
    while _moving(world):
        if not world.fleet.is_running():
            raise RunError(f"The fleet ended by itself: {_end_of(world.fleet.log)}")
        if time.monotonic() - begun > _GIVE_UP_SECONDS:
            raise RunError(f"{_moving(world)} messages still move after {_GIVE_UP_SECONDS:.0f} s.")
        time.sleep(_POLL_SECONDS)
    return round(time.monotonic() - begun, 2)


def _end_of(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-1500:]


def _moving(world: World) -> int:
    try:
        with psycopg.connect(world.database_url, connect_timeout=5) as connection:
            row = connection.execute(SQL["moving"]).fetchone()
    except psycopg.OperationalError:
        return -1
    return int(row[0]) if row else 0


def _tidy_up(world: World, record: Record) -> None:
    """Rounds of an operator's work, until one finds nothing to do."""
    for _ in range(_MOST_ROUNDS):
        done = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", "proof.workload.attendant", str(world.ledger)],
            env={**world.environment, "DATABASE_URL": world.database_url},
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
            timeout=_GIVE_UP_SECONDS,
        )
        if done.returncode:
            raise RunError(f"The operator could not work: {done.stderr[-2000:]}")
        counts = json.loads(done.stdout.splitlines()[-1])
        record.innocents += counts["innocents"]
        record.settled += counts["settled"]
        if not any(counts.values()) and not _moving(world):
            return
        _drain(world)


def _make(folder: Path) -> None:
    """An empty folder that another user, PostgreSQL's, may pass through."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "history").mkdir(parents=True)
    folder.chmod(0o711)
    os.environ[history.FOLDER] = str(folder / "history")


def _collect(folder: Path) -> None:
    (folder / "logs").mkdir()
    for log in folder.glob("*.log"):
        log.rename(folder / "logs" / log.name)


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"],  # noqa: S607
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()
