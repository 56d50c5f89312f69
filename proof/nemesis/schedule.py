"""When each fault strikes: by seed, with exponential gaps, each kind in a thread of its own."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from random import Random
from threading import Event, Thread
from typing import Protocol

from proof import history
from proof.nemesis.brokers import BrokerKill
from proof.nemesis.clocks import ClockStep
from proof.nemesis.cuts import CommitCut
from proof.nemesis.databases import DatabaseKill
from proof.nemesis.disks import DiskFull
from proof.nemesis.ground import Ground
from proof.nemesis.kills import ChildKill, ParentKill, WorkerKill
from proof.nemesis.pauses import Pause

_SHARE = 0.8  # of the time, in which all targets shall be reached
_FEW = 3
_MISS_SECONDS = 0.05  # after a strike that hit nothing
_JOIN_SECONDS = 60.0
# Where a profile does not say how often a kind shall hit.
_SECONDS_EACH = {"clock_steps": 60.0, "disk_full": 150.0, "child_kills": 8.0, "parent_kills": 50.0}


class Fault(Protocol):
    """One kind of fault. One thread uses it."""

    def strike(self, world: Ground) -> bool:
        """True only when it really hit."""


KINDS: Mapping[str, Callable[[Ground, Random], Fault]] = {
    "worker_kills": lambda world, random: WorkerKill(world.database_url, random),
    "pauses": lambda world, random: Pause(world.database_url, random),
    "commits_cut": lambda _world, random: CommitCut(random),
    "postgres_kills": lambda _world, _random: DatabaseKill(),
    "broker_kills": lambda _world, _random: BrokerKill(),
    "child_kills": lambda world, random: ChildKill(world.database_url, random),
    "parent_kills": lambda world, _random: ParentKill(world.database_url),
    "clock_steps": lambda _world, _random: ClockStep(),
    "disk_full": lambda _world, _random: DiskFull(),
}


class Nemesis:
    """Strikes until it is told to stop, or every target is reached."""

    def __init__(
        self, world: Ground, targets: Mapping[str, int], *, seconds: float, seed: int
    ) -> None:
        """targets: how often each of KINDS shall hit while the workload takes so many seconds."""
        self._world = world
        self._targets = {name: count for name, count in targets.items() if name in KINDS}
        self._seconds = seconds
        self._seed = seed
        self._hits: Counter[str] = Counter()
        self._stop = Event()
        self._threads: list[Thread] = []

    def start(self) -> None:
        """Begin."""
        self._threads = [
            Thread(target=self._keep_striking, args=(name,), name=name, daemon=True)
            for name in self._targets
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End; every strike that began is carried to its end, so all is healed afterwards."""
        self._stop.set()
        for thread in self._threads:
            thread.join(_JOIN_SECONDS)

    def report(self) -> dict[str, int]:
        """How often each kind has hit."""
        return {name: self._hits[name] for name in self._targets}

    def missing(self) -> dict[str, int]:
        """How many hits each kind still lacks; the kinds that have all are left out."""
        lacks = {name: count - self._hits[name] for name, count in self._targets.items()}
        return {name: count for name, count in lacks.items() if count > 0}

    def _keep_striking(self, name: str) -> None:
        random = Random(f"{self._seed}/{name}")  # noqa: S311 - faults, not secrets
        fault = KINDS[name](self._world, random)
        begun = time.monotonic()
        while self._hits[name] < self._targets[name]:
            if self._stop.wait(self._gap(name, random, time.monotonic() - begun)):
                break
            while not self._strike(name, fault):
                if self._stop.wait(_MISS_SECONDS):
                    break
        close = getattr(fault, "close", None)
        if close is not None:
            close()

    def _gap(self, name: str, random: Random, passed: float) -> float:
        """Exponential round what the rest of the time allows: who is late strikes faster."""
        left = max(self._seconds * _SHARE - passed, 0.0)
        if self._targets[name] <= _FEW:  # chance would push some of them past the end
            return random.uniform(0.5, 1.0) * left / (self._targets[name] - self._hits[name] + 1)
        return random.expovariate(1.0) * left / (self._targets[name] - self._hits[name] + 1)

    def _strike(self, name: str, fault: Fault) -> bool:
        try:
            is_hit = fault.strike(self._world)
        except Exception:
            traceback.print_exc()
            history.write("nemesis failed", fault=name)
            return False
        if is_hit:
            self._hits[name] += 1
        return is_hit


def targets_of(targets: Mapping[str, int], seconds: float) -> dict[str, int]:
    """How often each kind shall hit: what a profile says, and for the rest by the time it takes."""
    by_time = {name: int(seconds // each) for name, each in _SECONDS_EACH.items()}
    wanted = {**by_time, **targets}
    return {name: count for name, count in wanted.items() if name in KINDS and count}
