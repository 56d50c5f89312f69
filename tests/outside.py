"""A provider outside the transaction, and the consumers of a test that call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import Group

from monitor.domain.effect import Call, Effect, EffectRefused, Evidence, NotDone, Told
from tests.engine import consuming, drain_all
from tests.rows import one, rows
from tests.waiting import wait_until


class Provider:
    """What the outside remembers: one entry for each thing it really did."""

    def __init__(self, *faults: Exception | None, acts: bool = True) -> None:
        self.ledger: list[str] = []
        self.calls: list[Call] = []
        self._faults = list(faults)
        self._acts = acts

    def __call__(self, call: Call) -> dict[str, str]:
        self.calls.append(call)
        fault = self._faults.pop(0) if self._faults else None
        acts = fault is None or (self._acts and not isinstance(fault, NotDone | EffectRefused))
        if acts and call.key not in self.ledger:
            self.ledger.append(call.key)
        if fault is not None:
            raise fault
        return {"charge": call.key}

    def ask(self, call: Call) -> Evidence:
        """Whether it was done."""
        return Evidence(
            told=Told.DONE if call.key in self.ledger else Told.NOT_DONE, result={"asked": 1}
        )


def charging(effect: Effect, handler: Callable[..., Any] | None = None, **policy: Any) -> Any:
    """A consumer that charges and then writes one row in its transaction."""

    def charge(_payload: Any, message: Any) -> None:
        result = message.effect("charge", {"cents": 5})
        with message.transaction() as commit:
            Group.objects.create(name=f"charged/{message.key}")
            commit.result = result

    return consuming(handler or charge, external=True, effects=(effect,), **policy)


def queryable(provider: Provider, settle_seconds: float) -> Effect:
    """An effect whose provider can be asked."""
    return Effect(
        name="charge",
        call=provider,
        kind="queryable",
        reconcile=provider.ask,
        settle_seconds=settle_seconds,
    )


def drain_until_quiet() -> None:
    """Drain until no retry is due any more."""
    waiting = "SELECT count(*) FROM comboio_gate WHERE retry_at IS NOT NULL"
    wait_until(lambda: drain_all() == 0 and one(waiting) == 0, 10)


def effect_state() -> tuple[str, str]:
    """State and last step of the only effect."""
    (row,) = rows("SELECT state, last_step FROM comboio_effect")
    return row


def charged() -> int:
    """Rows that handlers committed."""
    return int(one("SELECT count(*) FROM auth_group WHERE name LIKE 'charged/%%'"))
