"""A provider for tests: it remembers what it was asked and what it really did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from monitor.domain.effect import Call, Effect, EffectRefused, Evidence, Kind, NotDone, Told


class Provider:
    """Stands in for the outside of one effect, with the powers of the effect's kind.

    One of kind "keyed" does a key once; the others do what they are called for, each time.
    """

    def __init__(self, name: str, result: Callable[[Call], Any] | None = None) -> None:
        """result: what a call is answered with; else the key and a number."""
        self.name = name
        self.calls: list[Call] = []
        self.questions: list[Call] = []
        self.ledger: list[str] = []  # the key of each thing really done, in order
        self._make = result or self._plain
        self._results: dict[str, Any] = {}
        self._faults: list[tuple[Exception, bool]] = []

    def fail(self, error: Exception, *, times: int = 1, acts: bool | None = None) -> None:
        """The next calls raise this. acts: whether the thing is done all the same.

        By default nothing is done for NotDone and EffectRefused; any other error is an answer that
        was lost, after the thing was done.
        """
        is_certain = isinstance(error, NotDone | EffectRefused)
        self._faults += [(error, not is_certain if acts is None else acts)] * times

    def doubles(self) -> int:
        """How many things were done more than once."""
        return sum(count - 1 for count in Counter(self.ledger).values())

    def behind(self, effect: Effect) -> Effect:
        """The declared effect with this provider in the place of the real one."""
        can_ask = effect.reconcile is not None
        return replace(
            effect,
            call=lambda call: self._call(effect, call),
            reconcile=self._ask if can_ask else None,
        )

    def _call(self, effect: Effect, call: Call) -> Any:
        self.calls.append(call)
        error, acts = self._faults.pop(0) if self._faults else (None, True)
        if acts and not (effect.kind == Kind.KEYED and call.key in self._results):
            self.ledger.append(call.key)
            self._results[call.key] = self._make(call)
        if error is not None:
            raise error
        return self._results[call.key]

    def _ask(self, call: Call) -> Evidence:
        self.questions.append(call)
        if call.key not in self._results:
            return Evidence(told=Told.NOT_DONE, detail={"ledger": "nothing under this key"})
        return Evidence(told=Told.DONE, result=self._results[call.key], reference=call.key)

    def _plain(self, call: Call) -> dict[str, Any]:
        return {"key": call.key, "number": len(self.ledger)}
