"""Where a scene is played: a database, forked workers and senders, and what the nemesis needs."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import SystemRandom
from typing import Any, cast

import psycopg
from django.db import connection

from config.launch.process import die_with_parent
from monitor.engine import directory, registry
from monitor.maintenance.chores import CHORES, run_once
from proof import history
from proof.mutants.mutant import Scene
from proof.nemesis.ground import Ground
from proof.run import SQL
from proof.workload import attendant
from proof.workload.plan import Plan
from proof.world.fleet import Fleet
from proof.world.forks import Forks
from proof.world.proxy import CommitProxy

_POLL_SECONDS = 0.05
_STALLED_SECONDS = 8.0  # nothing moves for so long: it never will
_MOST_SECONDS = 60.0
_STOP_SECONDS = 10.0
_ROUNDS = 3


class ForkedFleet(Fleet):
    """The fleet of the proof, forked from this process instead of started anew."""

    def __init__(self, folder: Path, workers: int) -> None:
        super().__init__(folder, {}, workers)
        self._pid = 0

    def start(self) -> None:
        """Fork the parent of the workers."""
        self._pid = fork(lambda: Forks(self._board, self.workers).run())

    def is_running(self) -> bool:
        """Whether it was started."""
        return bool(self._pid)

    def stop(self) -> None:
        """Let every worker finish its batch and end; by force after some seconds."""
        if self._pid:
            os.kill(self._pid, signal.SIGTERM)
            wait(self._pid, _STOP_SECONDS)
            self._pid = 0


@dataclass(slots=True, kw_only=True)
class Floor:
    """What a scene works with, in the process that plays it."""

    scene: Scene
    seed: int
    folder: Path
    database_url: str  # straight to the server
    sockets: Path  # of the server
    fleet: ForkedFleet = field(init=False)
    proxy: CommitProxy | None = None  # where connections are cut
    drain_seconds: float | None = None
    struck: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fleet = ForkedFleet(self.folder, 3)

    @property
    def plan(self) -> Plan:
        """What is sent."""
        return Plan(seed=self.seed, profile=self.scene.profile, has_queue=self.scene.has_queue)

    @property
    def ledger(self) -> Path:
        """The books of the provider."""
        return self.folder / "provider.ledger"

    @property
    def ground(self) -> Ground:
        """The same for the faults of the proof, which touch only its workers here."""
        return cast("Ground", self)

    def query(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """Rows of the scene's database, by a connection that is closed again."""
        with psycopg.connect(self.database_url, autocommit=True) as own:
            cursor = own.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def moving(self) -> int:
        """How many messages will still move by themselves."""
        ((number,),) = self.query(SQL["moving"])
        return cast("int", number)

    def drain(self) -> None:
        """Wait until nothing moves any more, or until it is clear that what is left never will."""
        begun = changed = time.monotonic()
        before = None
        while now := self._progress():
            if now != before:
                before, changed = now, time.monotonic()
            if time.monotonic() - changed > _STALLED_SECONDS:
                break
            if time.monotonic() - begun > _MOST_SECONDS:
                break
            time.sleep(_POLL_SECONDS)
        self.drain_seconds = round(time.monotonic() - begun, 2)

    def tidy_up(self) -> None:
        """Rounds of an operator's work, as in the proof, then the end of the workers."""
        for _ in range(_ROUNDS):
            if not self.attend() or self.drain_seconds is None:
                break
            self.drain()
        self.fleet.stop()
        self.fold()

    def attend(self) -> int:
        """One round of the proof's operator; how much there was to do."""
        before = self.query("SELECT count(*) FROM comboio_audit")
        attendant.main([str(self.ledger)])
        return int(before != self.query("SELECT count(*) FROM comboio_audit"))

    def fold(self) -> None:
        """Fold the counters that are left."""
        chore = next(each for each in CHORES if each.name == "fold counters")
        while run_once(chore):
            pass

    def _progress(self) -> tuple[int, object] | None:
        moving = self.moving()
        if not moving:
            return None
        return moving, self.query("SELECT count(*) FROM comboio_done")[0][0]


def dies_after_commits(share: float, calm: Path) -> None:
    """A share of the commits with effects is followed by a death, until the file calm is there."""
    write, chance = history.write, SystemRandom()  # a fork would share the state of another

    def written(event: str, **fields: object) -> None:
        write(event, **fields)
        if event == "committed" and chance.random() < share and not calm.exists():
            os.kill(os.getpid(), signal.SIGKILL)

    history.write = written


def fork(job: Callable[[], object]) -> int:
    """A child that does the job and ends, at the latest with this process."""
    connection.close()  # a socket is nobody's when two processes have it
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        die_with_parent(signal.SIGKILL)
        if os.getppid() == parent:
            job()
            status = 0
    except BaseException as error:
        traceback.print_exc()
        history.write("ended", error=type(error).__qualname__)
    finally:
        with suppress(Exception):
            sys.stderr.flush()
        os._exit(status)


def wait(pid: int, seconds: float) -> int | None:
    """The exit status of a child; None when it had to be killed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(_POLL_SECONDS / 5)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def declare_otherwise(name: str, **policy: Any) -> None:
    """Let a consumer of the proof be declared with another handler or policy, before a fork."""
    plain = registry.get(name)
    assert plain is not None  # noqa: S101 - the proof declares it
    registry.remove(name)
    registry.add(replace(plain, **policy))
    directory.forget()
