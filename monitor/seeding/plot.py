"""What becomes of each message: walks through a history in order of time and decides.

The rules are those of the engine: in a session nothing runs behind a dead head that holds it,
behind a message in doubt, behind a gap or a retry; what is numbered counts up without holes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from monitor.domain import keys
from monitor.seeding.cast import Actor, Failure
from monitor.seeding.shape import Shape

_LATE = 0.95  # of the history: what holds a session happened after it


class Fate(NamedTuple):
    """One message: whose, of which session, with which number, and where it ends."""

    actor: int
    session: int  # 0: none
    account: str
    sequence: int | None
    state: str  # done, ready, waiting (delayed), in_doubt, dead or discarded
    failure: Failure | None


@dataclass(slots=True)
class Gate:
    """Why a session does not run. head: what its first message is to it, None until it came."""

    consumer: int
    kind: str  # dead, held, doubt, gap or retry
    head: int | None = None
    error: str = ""


@dataclass(slots=True)
class Progress:
    """How far a numbered session has come. waits: its first number that has not run."""

    last: int = 0
    waits: int | None = None
    is_gap: bool = False
    before: int | None = None


@dataclass(slots=True)
class Plot:
    """The walk. ids: the consumers' ids in the order of the actors. accounts: how theirs begin."""

    shape: Shape
    actors: tuple[Actor, ...]
    ids: tuple[int, ...]
    accounts: str
    random: Random
    told: Counter[str] = field(default_factory=Counter)
    gates: dict[int, Gate] = field(default_factory=dict)
    progress: dict[int, Progress] = field(default_factory=dict)
    _accounts: list[list[tuple[int, str]]] = field(default_factory=list)
    _limits: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        total = sum(actor.weight for actor in self.actors)
        for actor, consumer in zip(self.actors, self.ids, strict=True):
            count = max(1, round(self.shape.sessions * actor.weight / total))
            names = (f"{self.accounts}-{at:05d}" for at in range(count))
            self._accounts.append([(keys.session_id(consumer, name), name) for name in names])
        shape = self.shape
        self._limits = {
            "dead": shape.dead,
            "discarded": shape.discarded,
            "in_doubt": shape.doubts,
            "delayed": shape.delayed,
            "hold": shape.holds,
            "gap": shape.gaps,
            "retry": shape.retries,
            "held": 1 + shape.holds // 20,
        }

    def fates(self, first: int, count: int) -> Iterator[Fate]:
        """The fates of the messages first … first + count - 1 of the history (from 0 on).

        One by one: the gates are those of the moment of the latest.
        """
        weights = [actor.weight for actor in self.actors]
        chosen = self.random.choices(range(len(self.actors)), weights, k=count)
        for at, actor in enumerate(chosen, first):
            yield self._fate(at, actor)

    def _fate(self, at: int, number: int) -> Fate:
        actor, random = self.actors[number], self.random
        if random.random() < actor.sessionless:
            state, failure = self._alone(at, actor)
            return Fate(number, 0, f"guest-{at % 9_973}", None, state, failure)
        accounts = self._accounts[number]
        # A power of a uniform number is Zipf's law with exponent 1: no table is needed.
        session, account = accounts[int(len(accounts) ** random.random()) - 1]
        state, failure = self._in_session(at, number, session)
        sequence = None
        if actor.consumer.numbered is not None:
            sequence = self._count_up(at, session, state)
        return Fate(number, session, account, sequence, state, failure)

    def _alone(self, at: int, actor: Actor) -> tuple[str, Failure | None]:
        if self._is_waiting(at, actor):
            return "ready", None
        return self._run(at, actor)

    def _in_session(self, at: int, number: int, session: int) -> tuple[str, Failure | None]:
        actor = self.actors[number]
        if session in self.gates:
            return "ready", None
        if self._is_waiting(at, actor):
            if at % 7 == 0 and self._takes("retry", at):
                self.gates[session] = Gate(self.ids[number], "retry", error=_error(actor))
                return "ready", None
            return self._delayed_or("ready", at, actor), None
        if at >= self.shape.messages * _LATE and (found := self._late(at, number, session)):
            return found
        return self._run(at, actor)

    def _run(self, at: int, actor: Actor) -> tuple[str, Failure | None]:
        if self._is_due("dead", at) and self.random.random() < actor.dies:
            self.told["dead"] += 1
            return "dead", self._failure(actor)
        if at % 16 == 0 and self._takes("discarded", at):
            return "discarded", self._failure(actor)
        return "done", None

    def _late(self, at: int, number: int, session: int) -> tuple[str, Failure | None] | None:
        """What stops a session of late, if anything does."""
        actor, consumer = self.actors[number], self.ids[number]
        if actor.consumer.external and self._takes("in_doubt", at):
            self.gates[session] = Gate(consumer, "doubt")
            return "in_doubt", None
        has_died_enough = self.told["dead"] >= self.shape.dead
        if actor.consumer.when_dead == "hold" and not has_died_enough and self._takes("hold", at):
            failure = self._failure(actor)
            self.told["dead"] += 1
            self.gates[session] = Gate(consumer, "dead", error=failure.error.format(n=at % 9_000))
            return "dead", failure
        if actor.consumer.numbered is not None and self._takes("gap", at):
            self.gates[session] = Gate(consumer, "gap")
            return "ready", None
        if at % 97 == 0 and self._takes("held", at):
            self.gates[session] = Gate(consumer, "held")
            return "ready", None
        return ("waiting", None) if self._delayed_or("", at, actor) else None

    def _delayed_or(self, otherwise: str, at: int, actor: Actor) -> str:
        # A delayed message with a number would hold back all that come after it.
        is_free = actor.consumer.numbered is None and at % 5 == 0
        return "waiting" if is_free and self._takes("delayed", at) else otherwise

    def _count_up(self, at: int, session: int, state: str) -> int:
        known = self.progress.setdefault(session, Progress())
        gate = self.gates.get(session)
        known.last += 1
        if gate is not None and gate.kind == "gap" and not known.is_gap and known.waits is None:
            known.is_gap, known.waits = True, known.last
            known.last += 1 + at % 3
            known.before = known.last
        elif state == "ready" and known.waits is None:
            known.waits = known.last
        return known.last

    def _is_waiting(self, at: int, actor: Actor) -> bool:
        """Whether so new a message of this consumer has not run yet."""
        total = self.shape.messages
        return at >= total - max(self.shape.backlog, int(actor.ready_last * total))

    def _takes(self, what: str, at: int) -> bool:
        """Whether one of this kind is due; then it is counted."""
        if not self._is_due(what, at):
            return False
        self.told[what] += 1
        return True

    def _is_due(self, what: str, at: int) -> bool:
        done, limit = self.told[what], self._limits[what]
        begin, end = _SPANS[what]
        passed = (at / self.shape.messages - begin) / (end - begin)
        return done < limit and done < limit * passed

    def _failure(self, actor: Actor) -> Failure:
        known = actor.failures
        return known[int((len(known) + 1) ** self.random.random()) - 1]


# The part of a history within which each kind is spread.
_SPANS = {
    "dead": (0.0, 0.985),
    "discarded": (0.0, 0.98),
    "held": (_LATE, 0.99),
    "in_doubt": (_LATE, 0.99),
    "hold": (_LATE, 0.97),
    "gap": (_LATE, 0.99),
    "delayed": (_LATE, 1.0),
    "retry": (0.994, 1.0),
}


def _error(actor: Actor) -> str:
    failure = actor.failures[0]
    return f"{failure.error_class}: {failure.error.format(n=7)}"
