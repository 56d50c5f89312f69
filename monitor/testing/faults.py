"""What a test orders to go wrong, and where it strikes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from monitor.domain.consumer import Consumer
from monitor.domain.effect import Call, Effect
from monitor.engine import registry
from monitor.testing.provider import Provider

COMMIT, BEFORE, AFTER, ANSWER = "commit", "before", "after", "answer"


class LostAnswerError(OSError):
    """The provider acted, but its answer never came: the caller cannot know."""


@dataclass(slots=True)
class Order:
    """One fault: at which point, how often, and of which message or effect (None: any)."""

    point: str
    times: int
    key: str | None = None
    effect: str | None = None

    def __str__(self) -> str:
        what = self.effect or self.key or "any message"
        words = {
            COMMIT: "crash before the commit of",
            BEFORE: "crash before the effect",
            AFTER: "crash after the effect",
            ANSWER: "lost answer of the effect",
        }
        return f"{words[self.point]} {what} ({self.times} more)"


class Faults:
    """The orders of one test. die: ends the simulated process where it is called."""

    def __init__(self, die: Callable[[], Any]) -> None:
        self._die = die
        self._orders: list[Order] = []
        self._providers: dict[str, Provider] = {}

    def order(self, order: Order) -> None:
        """From now on, until it happened so many times."""
        self._orders.append(order)

    def provide(self, provider: Provider) -> None:
        """Effects of this name go to the provider of the test."""
        self._providers[provider.name] = provider

    def left(self) -> list[str]:
        """What was ordered and did not happen, in words."""
        return [str(each) for each in self._orders if each.times > 0]

    def forget(self) -> None:
        """Nothing is ordered any more."""
        self._orders.clear()

    def awaits_commit(self) -> bool:
        """Whether a crash before a commit is still to come."""
        return any(each.point == COMMIT and each.times > 0 for each in self._orders)

    def at_commit(self, keys: Sequence[str]) -> None:
        """The messages of these keys are done as soon as the open transaction commits."""
        for key in keys:
            if self._strikes(COMMIT, key=key):
                self._die()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """While open, the declared effects of every consumer pass through the orders."""
        plain = registry.all_consumers()
        for each in plain:
            self._swap(replace(each, effects=tuple(map(self._faulty, each.effects))))
        try:
            yield
        finally:
            for each in plain:
                self._swap(each)

    @staticmethod
    def _swap(consumer: Consumer) -> None:
        registry.remove(consumer.name)
        registry.add(consumer)

    def _faulty(self, effect: Effect) -> Effect:
        if effect.name in self._providers:
            effect = self._providers[effect.name].behind(effect)
        plain = effect.call

        def call(what: Call) -> Any:
            if self._strikes(BEFORE, effect=effect.name):
                self._die()
            result = plain(what)
            if self._strikes(AFTER, effect=effect.name):
                self._die()
            if self._strikes(ANSWER, effect=effect.name):
                raise LostAnswerError(f"The answer of {effect.name} was lost on its way.")
            return result

        return replace(effect, call=call)

    def _strikes(self, point: str, *, key: str | None = None, effect: str | None = None) -> bool:
        for each in self._orders:
            is_meant = each.key in (None, key) and each.effect in (None, effect)
            if each.point == point and each.times > 0 and is_meant:
                each.times -= 1
                return True
        return False
