"""Charges of the demo: some answers of the provider get lost, and some of those stay unknown."""

from __future__ import annotations

import json
from collections.abc import Iterator

from examples.demo.plan import CHARGE, Fate, Planned, Role, Route, Shape, copy_of

WAYS = ("card", "bank", "voucher")
_FAULTS = {3: "unavailable", 7: "drop", 11: "drop", 15: "slow"}
_EVERY = 20  # the faults above come once in so many charges of each way
_COPIED = 4  # each fourth charge of a way comes again, those with a fault among them


def deliveries(*, run: str, count: int) -> list[Planned]:
    """So many charges, a third by each way, and their late copies behind them."""
    firsts = [
        charge(run=run, n=n, by=WAYS[n % 3], pretend=_FAULTS.get(n // 3 % _EVERY, "none"))
        for n in range(count)
    ]
    return [*firsts, *_copies(firsts)]


def charge(*, run: str, n: int, by: str, pretend: str) -> Planned:
    """One charge, on an account of its own: what is in doubt must not hold up the others."""
    account = f"{run}-c{n:04d}"
    amount_cents = 500 + n * 37 % 9_000
    body = {
        "id": f"{account}-charge",
        "type": CHARGE,
        "account": account,
        "sequence": 1,
        "amount_cents": amount_cents,
        "by": by,
        "pretend": pretend,
    }
    is_lost = (by, pretend) == ("voucher", "drop")
    route = Route(
        consumer="payments.charge",
        session=account,
        position=1,
        effect=f"{account} 1: charged {amount_cents}",
        fate=Fate.IN_DOUBT if is_lost else Fate.DONE,
    )
    return Planned(
        source="payments",
        key=f"{account}-charge",
        type=CHARGE,
        body=json.dumps(body, separators=(",", ":")),
        role=Role.FIRST,
        lane=account,
        routes=(route,),
    )


def _copies(firsts: list[Planned]) -> Iterator[Planned]:
    for n, first in enumerate(firsts):
        if n // 3 % _COPIED == _COPIED - 1:
            yield copy_of(first, Shape.LATE)
