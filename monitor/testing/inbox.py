"""The fixture's object: deliver, let things go wrong, run, and look at what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from monitor.domain.effect import Call
from monitor.domain.errors import ComboioError
from monitor.domain.message import Delivery, Receipt
from monitor.domain.states import State
from monitor.engine import ingest
from monitor.testing import clock, faults, looking
from monitor.testing.letters import letter
from monitor.testing.process import Process
from monitor.testing.provider import Provider

_MOST_DEATHS = 100
_MOST_TURNS = 1_000
_IDLE_TURNS = 3


class NotSettledError(ComboioError, AssertionError):
    """Something did not come to rest: it dies, or is tried again, for ever."""


class Inbox:
    """The inbox of one test, on the test database, with the real engine.

    It plays the worker and the clock. Only time is not real: see advance.
    """

    def __init__(self) -> None:
        self._process = Process()

    @property
    def faults(self) -> faults.Faults:
        """What was ordered to go wrong."""
        return self._process.faults

    @property
    def deaths(self) -> int:
        """How many worker processes died so far."""
        return self._process.deaths

    def letter(self, source: str, body: Any = None, **values: Any) -> Delivery:
        """A delivery that was not sent yet; values as for deliver."""
        return letter(source, {} if body is None else body, **values)

    def deliver(
        self, source: str, body: Any = None, *, times: int = 1, **values: Any
    ) -> list[Receipt]:
        """Deliver a message so many times, each in its own transaction; all receipts in order.

        values: key, type, session, sequence, origin, headers, content_type, redelivered. Without
        key the settings of the HTTP source find it in the body. One receipt for each consumer that
        takes it, with its verdict: new, duplicate, mismatch (the key is known with another payload)
        or refused.
        """
        return self.send(*[self.letter(source, body, **values)] * times)

    def send(self, *letters: Delivery) -> list[Receipt]:
        """Deliver these one after the other; all receipts in order."""
        return [each for one in letters for group in ingest.receive([one]) for each in group]

    def reorder(self, *letters: Delivery, seed: int | None = None) -> list[Receipt]:
        """Deliver these in another order than they were sent: reversed, or shuffled by a seed."""
        order = list(reversed(letters))
        if seed is not None:
            order = list(letters)
            Random(seed).shuffle(order)  # noqa: S311 - an order, not a secret
        return self.send(*order)

    def run(self, *, seconds: float = 30.0) -> int:
        """Run all that may run now, as worker and clock do; how many messages moved.

        A worker that dies by an ordered fault is replaced at once. What waits for a time (a retry,
        a lease, a question to a provider) stays; advance makes time pass.
        """
        total = 0
        deaths = 0
        while True:
            moved = self._process.run(seconds)
            if moved is None:
                deaths += 1
                if deaths > _MOST_DEATHS:
                    raise NotSettledError(f"More than {_MOST_DEATHS} workers died in one run.")
                continue
            total += moved
            if not self._process.tick():
                return total

    def advance(self, seconds: float) -> None:
        """Let time pass for everything that is stored: retries, leases, settle times, key windows.

        The database's clock itself stays true, so now() in your own tables is not moved.
        """
        clock.advance(seconds)

    def settle(self) -> int:
        """Run and advance by turns until nothing waits for a time; how many messages moved.

        What a person must decide stays: dead, held, and in doubt when the provider cannot be asked
        or could not tell when it was asked five times.
        """
        total = idle = 0
        for _ in range(_MOST_TURNS):
            moved = self.run()
            total += moved
            due = clock.seconds_until_due()
            # What is due and does not run waits for a person: its consumer is held, say.
            idle = 0 if moved or due else idle + 1
            if due is None or idle == _IDLE_TURNS:
                return total
            self.advance(due + 0.001)
        raise NotSettledError(f"Something is still tried again after {_MOST_TURNS} turns.")

    def crash_before_commit(self, key: str | None = None, *, times: int = 1) -> None:
        """Kill the worker when the message (None: any) is marked as done but not committed."""
        self.faults.order(faults.Order(faults.COMMIT, times, key=key))

    def crash_before_effect(self, name: str | None = None, *, times: int = 1) -> None:
        """Kill the worker when the effect is recorded, and its call was not made yet."""
        self.faults.order(faults.Order(faults.BEFORE, times, effect=name))

    def crash_after_effect(self, name: str | None = None, *, times: int = 1) -> None:
        """Kill the worker when the provider has acted, and its answer is not recorded yet."""
        self.faults.order(faults.Order(faults.AFTER, times, effect=name))

    def lose_answer(self, name: str | None = None, *, times: int = 1) -> None:
        """The provider acts, then the connection is cut: the worker lives and cannot know."""
        self.faults.order(faults.Order(faults.ANSWER, times, effect=name))

    def provider(self, effect: str, *, result: Callable[[Call], Any] | None = None) -> Provider:
        """From now on the effects of this name go to a provider of the test, which is returned."""
        made = Provider(effect, result)
        self.faults.provide(made)
        return made

    def state(self, key: str, *, consumer: str | None = None) -> State:
        """Where the message is. Raises LookupError unless exactly one state fits the key."""
        found = looking.messages(key, consumer)
        states = {each.state for each in found}
        if len(states) == 1:
            return found[0].state
        told = ", ".join(f"{each.consumer}: {each.state}" for each in found)
        raise LookupError(f"“{key}” is " + (f"{told}. Name consumer=." if told else "not there."))

    def result(self, key: str, *, consumer: str | None = None) -> Any:
        """What the handler returned for the message, as a duplicate that asks is told it."""
        (found,) = looking.messages(key, consumer)
        return found.result

    def starts(self, key: str, *, consumer: str | None = None) -> int:
        """How often a handler was started for the messages of this key, failures included."""
        return sum(self._process.starts[each.id] for each in looking.messages(key, consumer))

    def messages(self, *, consumer: str | None = None) -> Sequence[looking.Standing]:
        """Every message with its state, in the order of arrival."""
        return looking.messages(None, consumer)

    def dead(self, key: str | None = None, *, consumer: str | None = None) -> list[looking.Dead]:
        """The dead letters with reason and error, in the order of arrival."""
        return looking.dead(key, consumer)

    def effects(
        self, key: str | None = None, *, consumer: str | None = None
    ) -> list[looking.Recorded]:
        """The recorded effects of external consumers, in the order of their recording."""
        return looking.effects(key, consumer)
