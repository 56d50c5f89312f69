"""Runs actors one round trip at a time, in the order that a schedule says."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from queue import SimpleQueue
from threading import Condition, Thread
from typing import Any

import psycopg
from django.db import connection

from tests.interleaving import seam

_LOOK_SECONDS = 0.002  # how long a step may take before we ask whether it waits for a lock
_PATIENCE_SECONDS = 60.0
_LETTERS = "ABC"
_BLOCKED = "SELECT bool_and(cardinality(pg_blocking_pids(pid)) > 0) FROM unnest(%s::int[]) AS pid"


class At(Enum):
    """Where an actor is."""

    IDLE = auto()
    RUNNING = auto()
    STOPPED = auto()


class Actor(Thread):
    """A thread with connections of its own that does one call a schedule, step by step."""

    def __init__(self, letter: str, changed: Condition) -> None:
        super().__init__(name=f"actor {letter}", daemon=True)
        self.letter = letter
        self.at = At.IDLE
        self.pid = 0
        self.statement = ""
        self.outcome: Any = None
        self.is_free = False  # no longer scheduled: run to the end
        self._changed = changed
        self._calls: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()

    def begin(self, call: Callable[[], Any] | None) -> None:
        """Start a call; it runs to its first step. None ends the thread."""
        self.at, self.is_free = At.RUNNING, False
        self._calls.put(call)

    def go(self) -> None:
        """Let the step go that the actor stands before."""
        with self._changed:
            self.at = At.RUNNING
            self._changed.notify_all()

    def stop(self, pid: int, statement: str) -> None:
        """Called in the actor's own thread, by the seam."""
        with self._changed:
            self.pid, self.statement = pid, statement
            if self.is_free:
                return
            self.at = At.STOPPED
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.at is At.RUNNING, _PATIENCE_SECONDS)

    def run(self) -> None:
        seam.enter(self)
        while (call := self._calls.get()) is not None:
            try:
                self.outcome = call()
            except Exception as error:
                self.outcome = error
            with self._changed:
                self.at = At.IDLE
                self._changed.notify_all()
        with seam.unscheduled():
            connection.close()
            seam.close()


@dataclass(slots=True)
class Run:
    """What happened: the letters, each step with its letter, the outcomes, who stood still."""

    steps: list[tuple[str, str]] = field(default_factory=list)
    outcomes: list[Any] = field(default_factory=list)
    deadlocks: list[str] = field(default_factory=list)

    @property
    def letters(self) -> str:
        return "".join(letter for letter, _ in self.steps)

    def __str__(self) -> str:
        lines = [f"{letter}  {statement}" for letter, statement in self.steps]
        lines += [f"every actor waits for another: {text}" for text in self.deadlocks]
        ends = [f"{_LETTERS[n]} ended with {end!r}" for n, end in enumerate(self.outcomes)]
        return "\n".join([f"schedule {self.letters}", *lines, *ends])


class Scheduler:
    """Actors A, B, … and the side connection that is asked who waits for a lock."""

    def __init__(self, count: int, side: psycopg.Connection[Any]) -> None:
        self._changed = Condition()
        self._side = side
        self.actors = [Actor(_LETTERS[n], self._changed) for n in range(count)]
        for actor in self.actors:
            actor.start()

    def close(self) -> None:
        """End the threads and their connections."""
        for actor in self.actors:
            actor.begin(None)
        for actor in self.actors:
            actor.join(_PATIENCE_SECONDS)
            assert not actor.is_alive(), f"{actor.name} did not end"

    def run(
        self, calls: Sequence[Callable[[], Any]], choose: Callable[[str, str], str], done: Run
    ) -> None:
        """Do the calls side by side; choose(letters that may step, the last one) says who steps."""
        actors = self.actors[: len(calls)]
        for actor, call in zip(actors, calls, strict=True):
            actor.begin(call)
        by_letter = {actor.letter: actor for actor in actors}
        last = ""
        while True:
            self._settle()
            ready = "".join(each.letter for each in self.actors if each.at is At.STOPPED)
            if not ready:
                break
            last = choose(ready, last)
            done.steps.append((last, by_letter[last].statement))
            by_letter[last].go()
        stuck = [each for each in self.actors if each.at is not At.IDLE]
        if stuck:
            done.deadlocks.append(", ".join(f"{e.letter} in {e.statement}" for e in stuck))
            self._free()
        done.outcomes += [actor.outcome for actor in actors]

    def _settle(self) -> None:
        """Until each actor has stopped, has ended, or waits for a lock of another one."""
        deadline, patience = time.monotonic() + _PATIENCE_SECONDS, _LOOK_SECONDS
        while time.monotonic() < deadline:
            with self._changed:
                self._changed.wait_for(lambda: not self._running(), patience)
                running = self._running()
                places = [(each.pid, each.statement) for each in running]
            if not running:
                return
            # Whoever blocks them stands still, so a wait that is seen here stays one.
            is_blocked = self._is_blocked([pid for pid, _ in places])
            with self._changed:
                still = [(each.pid, each.statement) for each in self._running()]
            if is_blocked and still == places:
                return
            patience = min(patience * 2, 0.05)
        raise AssertionError(f"a step took more than {_PATIENCE_SECONDS} s: {places}")

    def _free(self) -> None:
        """All wait for each other: PostgreSQL ends that by itself, then they run to their ends."""
        with self._changed:
            for actor in self.actors:
                actor.is_free = True
            idle = self._changed.wait_for(
                lambda: all(each.at is At.IDLE for each in self.actors), _PATIENCE_SECONDS
            )
        assert idle, "the actors of a deadlock did not end"

    def _running(self) -> list[Actor]:
        return [each for each in self.actors if each.at is At.RUNNING]

    def _is_blocked(self, pids: list[int]) -> bool:
        row = self._side.execute(_BLOCKED, [pids]).fetchone()
        return bool(row and row[0])
