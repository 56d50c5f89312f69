"""Bugs of the order in a session: by number, without holes, and nothing beside its head."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from monitor.engine import numbers
from monitor.store import queue
from proof.mutants.mutant import Mutant, put


def _by_arrival() -> None:
    for name in ("read", "read_open"):
        put(queue, name, partial(_unnumbered, getattr(queue, name)))


def _gap_ignored() -> None:
    admit = numbers.admit

    def unjudged(candidates: Any, numbered: Any) -> numbers.Admission:
        found = admit(candidates, numbered)
        return numbers.Admission(
            admitted=[c for c in candidates if c not in found.stale], stale=found.stale
        )

    put(numbers, "admit", unjudged)


def _unnumbered(read: Callable[..., list[queue.Key]], *what: Any, **_: bool) -> list[queue.Key]:
    return read(*what)


MUTANTS = (
    Mutant(
        name="order by received time",
        rule="A numbered session runs in the order of its numbers, not of arrival.",
        seam="store/queue.py read, read_open",
        scene="numbered",
        expected=("numbers",),
        apply=_by_arrival,
    ),
    Mutant(
        name="gap ignored",
        rule="A missing number stops its session until it comes.",
        seam="engine/numbers.py admit",
        scene="numbered",
        expected=("numbers",),
        apply=_gap_ignored,
    ),
)
