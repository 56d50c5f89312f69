"""Every seeded bug and every scene, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from proof.mutants import calling, failing, inbox, marking, operating, ordering
from proof.mutants.mutant import Mutant, Scene
from proof.mutants.scenes import (
    calls,
    cuts,
    deliveries,
    failures,
    holds,
    kills,
    leases,
    numbered,
    receivers,
    requeues,
    retention,
    wake_ups,
)

MUTANTS: tuple[Mutant, ...] = (
    *marking.MUTANTS,
    *inbox.MUTANTS,
    *calling.MUTANTS,
    *failing.MUTANTS,
    *ordering.MUTANTS,
    *operating.MUTANTS,
)
SCENES: Mapping[str, Scene] = MappingProxyType(
    {
        each.SCENE.name: each.SCENE
        for each in (
            *(kills, calls, cuts, failures, leases, receivers, wake_ups),
            *(deliveries, holds, numbered, requeues, retention),
        )
    }
)


class UnknownMutantError(Exception):
    """No seeded bug has that name."""


def chosen(names: Sequence[str]) -> list[Mutant]:
    """The mutants of these names; without names all. Raises UnknownMutantError."""
    known = {each.name: each for each in MUTANTS}
    unknown = [name for name in names if name not in known]
    if unknown:
        listed = ", ".join(known)
        raise UnknownMutantError(f"No mutant is called {unknown[0]!r}; there are: {listed}.")
    return [known[name] for name in names] if names else list(MUTANTS)


def rotated(count: int, turn: int) -> list[str]:
    """The names of so many mutants; with each turn the next ones, until all have had theirs."""
    return [MUTANTS[(turn * count + place) % len(MUTANTS)].name for place in range(count)]


def scenes_of(mutants: Sequence[Mutant]) -> list[Scene]:
    """The scenes that these need, the longest first."""
    return [each for name, each in SCENES.items() if any(m.scene == name for m in mutants)]
