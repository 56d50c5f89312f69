"""Bugs of what goes outside: leases, their fence, and calls that may be made again."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from monitor.domain.effect import Call
from monitor.engine import calling
from monitor.store import effects, leases
from proof.mutants.mutant import Mutant, put, swap


def _no_fence() -> None:
    swap(leases.SQL, "end", "fence = %(fence)s AND expires_at > clock_timestamp()", "true")


def _without_asking() -> None:
    put(calling.Caller, "_after_unknown", lambda *_: None)


def _key_of_each_call() -> None:
    def call(*, key: str, **more: Any) -> Call:
        return Call(key=f"{key}-{uuid4().hex[:6]}", **more)

    put(calling, "Call", call)


def _not_recorded_before() -> None:
    put(effects, "call", lambda *_: True)


MUTANTS = (
    Mutant(
        name="no fence",
        rule="A holder that lost its lease commits nothing.",
        seam="leases.sql end",
        scene="leases",
        expected=("fences",),
        apply=_no_fence,
    ),
    Mutant(
        name="called again without asking",
        rule="After an unknown outcome a provider that can be asked is asked first.",
        seam="engine/calling.py Caller",
        scene="calls",
        expected=("external",),
        apply=_without_asking,
    ),
    Mutant(
        name="another key for each call",
        rule="The same key goes with every call of an effect.",
        seam="engine/calling.py Call",
        scene="calls",
        expected=("external",),
        apply=_key_of_each_call,
    ),
    Mutant(
        name="call not recorded before",
        rule="That a call goes out is committed before it does.",
        seam="store/effects.py call",
        scene="calls",
        expected=("external",),
        apply=_not_recorded_before,
    ),
)
