"""Every checker by its name: the name says who found a bug."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from proof.checkers import (
    attempts,
    conservation,
    duplicates,
    external,
    fences,
    figures,
    ledger,
    liveness,
    logs,
    operator,
    session_order,
)
from proof.checkers.facts import Facts, Violation

Check = Callable[[Facts], Iterator[Violation]]

CHECKERS: Mapping[str, Check] = MappingProxyType(
    {
        "conservation": conservation.check,
        "ledger": ledger.check,
        "session_order": session_order.check,
        "fences": fences.check,
        "external": external.check,
        "attempts": attempts.check,
        "duplicates": duplicates.check,
        "operator": operator.check,
        "figures": figures.check,
        "liveness": liveness.check,
        "logs": logs.check,
    }
)


def check(facts: Facts) -> dict[str, list[Violation]]:
    """What each checker found; an empty list is a promise kept."""
    return {name: list(run(facts)) for name, run in CHECKERS.items()}
