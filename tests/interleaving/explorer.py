"""Explores the schedules of a pair of actors, and says which one broke a promise."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, Generic, TypeVar

from monitor.domain.errors import RefusedError
from monitor.operations.transaction import BusyError
from tests.interleaving.scheduler import Run, Scheduler
from tests.interleaving.tree import Tree
from tests.interleaving.world import World, check_states

ALL = 5_000
IN_CI = 60
SECONDS_IN_CI = 1.5  # of a pair; a busy machine runs fewer schedules, never fewer than
_LEAST = 8

State = TypeVar("State")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Generic[State]):
    """Two actors (or three). prepare() sets the stage; each actor gets what it returned.

    check() gets that too, and what each actor returned, or the refusal that it raised.
    """

    prepare: Callable[[], State]
    actors: Sequence[Callable[[State], Any]]
    check: Callable[..., None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """How many schedules were run, whether these are all, and the longest."""

    schedules: int
    is_all: bool
    longest: str


class Explorer:
    """Runs schedules of pairs: INTERLEAVINGS=all or a number; by default a few.

    INTERLEAVING=AABB runs that one only; after its letters whoever may goes first.
    """

    def __init__(self, world: World, scheduler: Scheduler, seed: int) -> None:
        self._world = world
        self._scheduler = scheduler
        self._seed = seed

    def interrupted(self, pair: Pair[Any], statement: str) -> Run:
        """One schedule: A up to before the statement, then the others to their ends, then A."""

        def choose(letters: str, _last: str) -> str:
            others = letters.replace("A", "")
            is_there = self._scheduler.actors[0].statement == statement
            return "A" if "A" in letters and not (is_there and others) else others[0]

        done = self._run(pair, choose)
        assert ("A", statement) in done.steps, f"A never came to {statement}\n{done}"
        return done

    def __call__(
        self, pair: Pair[Any], *, at_most: int | None = None, seconds: float = SECONDS_IN_CI
    ) -> Explored:
        """Run the pair's schedules, at most so many; AssertionError names the first bad one."""
        only = os.environ.get("INTERLEAVING")
        if only:
            self._run(pair, _Told(only).choose)
            return Explored(schedules=1, is_all=False, longest=only)
        tree, longest = Tree(self._seed), ""
        goes_on = _bound(at_most, seconds)
        while goes_on(tree.walks) and not tree.is_exhausted:
            tree.begin()
            done = self._run(pair, tree.choose)
            tree.end()
            longest = max(longest, done.letters, key=len)
        return Explored(schedules=tree.walks, is_all=tree.is_exhausted, longest=longest)

    def _run(self, pair: Pair[Any], choose: Callable[[str, str], str]) -> Run:
        self._world.reset()
        state = pair.prepare()
        done = Run()
        try:
            calls = [partial(actor, state) for actor in pair.actors]
            self._scheduler.run(calls, choose, done)
            assert not done.deadlocks, "a deadlock"
            for outcome in done.outcomes:
                _check_outcome(outcome)
            check_states()
            pair.check(state, *done.outcomes)
            check_states()
        except Exception as error:
            raise AssertionError(f"{done}\n{type(error).__name__}: {error}") from error
        return done


class _Told:
    """The letters of one schedule, as a person gave them."""

    def __init__(self, letters: str) -> None:
        self._letters = list(letters)

    def choose(self, letters: str, _last: str) -> str:
        wanted = self._letters.pop(0) if self._letters else letters[0]
        assert wanted in letters, f"{wanted} cannot step here, only {letters}"
        return wanted


def _bound(at_most: int | None, seconds: float) -> Callable[[int], bool]:
    """Whether another schedule shall be run after so many."""
    wanted = os.environ.get("INTERLEAVINGS", "")
    if at_most or wanted:
        limit = at_most or (ALL if wanted == "all" else int(wanted))
        return lambda walks: walks < limit
    end = monotonic() + seconds
    return lambda walks: walks < IN_CI and (walks < _LEAST or monotonic() < end)


def _check_outcome(outcome: Any) -> None:
    is_refusal = isinstance(outcome, RefusedError) and not isinstance(outcome, BusyError)
    if isinstance(outcome, BaseException) and not is_refusal:
        raise outcome
