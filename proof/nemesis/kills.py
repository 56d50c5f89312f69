"""SIGKILL of workers while they hold work."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from proof import history
from proof.nemesis.ground import Ground
from proof.nemesis.looking import NOTHING, Held, Look

WITH_PARENT = "killed with its parent"  # what a child of a killed Celery worker held
_HITS = 2  # of one message: the third is its end by design, which is another test's matter
_IN_FLIGHT_SECONDS = 0.02  # a statement that was sent before the stop is mostly visible after this


class WorkerKill:
    """Kill one worker of the fleet that holds messages or a lease; its successor is forked.

    A message whose worker died three times is given up: that is right, so no message is hit thrice.
    """

    def __init__(self, address: str, random: Random) -> None:
        self._look = Look(address)
        self._random = random
        self._dead: set[int] = set()
        self._hits: Counter[int] = Counter()

    def strike(self, world: Ground) -> bool:
        """True when a worker that held work is dead."""
        entries = [each for each in world.fleet.entries() if each.is_draining]
        candidates = [each.pid for each in entries if each.pid not in self._dead]
        self._dead &= {each.pid for each in entries}
        self._random.shuffle(candidates)
        return any(self._kill(pid) for pid in candidates)

    def close(self) -> None:
        """Close the connection of the look."""
        self._look.close()

    def _kill(self, pid: int) -> bool:
        """Stopped first, so that what the look sees is still true at the kill."""
        if is_stopped(pid) or not send(pid, signal.SIGSTOP):
            return False  # a paused one is to wake again
        time.sleep(_IN_FLIGHT_SECONDS)
        held = (self._look.held([pid]) or {}).get(pid)
        if held is None or any(self._hits[each] >= _HITS for each in held.messages):
            send(pid, signal.SIGCONT)
            return False
        died_ns = time.monotonic_ns()
        send(pid, signal.SIGKILL)
        self._dead.add(pid)
        # What it had sent before the stop may be executed only now.
        time.sleep(_IN_FLIGHT_SECONDS)
        held |= (self._look.held([pid]) or {}).get(pid, NOTHING)
        self._hits.update(held.messages)
        tell("worker_kills", victim=pid, held=held, mono_ns=died_ns)
        return True


class ChildKill:
    """Kill one child of a Celery worker; its parent starts another one."""

    def __init__(self, address: str, random: Random) -> None:
        self._look = Look(address)
        self._random = random

    def strike(self, world: Ground) -> bool:
        """True when a child is dead, whatever it held."""
        children = [] if world.celery is None else world.celery.some().children()
        if not children:
            return False
        with _stopped(self._look, [self._random.choice(children)]) as held:
            for pid in held:
                send(pid, signal.SIGKILL)
                tell("child_kills", victim=pid, held=held[pid])
        return bool(held)

    def close(self) -> None:
        """Close the connection of the look."""
        self._look.close()


class ParentKill:
    """Kill a Celery worker, which hosts the receiver, with its children; it is started again."""

    def __init__(self, address: str) -> None:
        self._look = Look(address)

    def strike(self, world: Ground) -> bool:
        """True when it is dead."""
        parent = None if world.celery is None else world.celery.some()
        if parent is None or parent.pid is None:
            return False
        # First the parent, or it would start new children.
        with _stopped(self._look, [parent.pid, *parent.children()]) as held:
            victim, *children = held or (0,)
            if not victim or not parent.kill():
                return False
            tell("parent_kills", victim=victim, held=held[victim])
            for pid in children:
                tell(WITH_PARENT, victim=pid, held=held[pid])
            return True

    def close(self) -> None:
        """Close the connection of the look."""
        self._look.close()


@contextmanager
def _stopped(look: Look, pids: list[int]) -> Iterator[dict[int, Held]]:
    """What each of these holds, which stays true: they are stopped meanwhile.

    Nobody while the database is away, for then nobody can say.
    """
    stopped = [pid for pid in pids if send(pid, signal.SIGSTOP)]
    try:
        time.sleep(_IN_FLIGHT_SECONDS)
        known = look.held(stopped)
        yield {} if known is None else {pid: known.get(pid, NOTHING) for pid in stopped}
    finally:
        for pid in stopped:
            send(pid, signal.SIGCONT)


def send(pid: int, number: signal.Signals) -> bool:
    """Send a signal; False when there is no such process."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped by a signal (Linux)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[:1] == ["T"]


def tell(kind: str, *, victim: int, held: Held, mono_ns: int | None = None) -> None:
    """Write down what a victim held: the run computes when somebody took it over.

    mono_ns: when it was hit; now, if not given.
    """
    history.write(
        "nemesis",
        fault=kind,
        victim=victim,
        held=held.announced,
        leased=held.leased,
        mono_ns=mono_ns or time.monotonic_ns(),
    )
