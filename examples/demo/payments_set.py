"""A seeded set of payments: in order in each account, with copies, changes and failures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from examples.demo.plan import Fate, Flaw, Planned, Role, Route, Shape, copy_of

LARGE_CENTS = 100_000
_COPY_SHARE = 0.25
_SOON = 12  # a soon copy comes at most so many deliveries after its first
_PAYOUT_SHARE = 0.04  # of the accounts
_HELD_SHARE = 0.5  # of the payout accounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """How many payments have which fault."""

    changed: int = 25
    not_a_number: int = 12
    of_nothing: int = 8
    always_failing: int = 5
    sometimes_failing: int = 60
    refused: int = 10


@dataclass(slots=True)
class Account:
    """An account while its payments are made: the next sequence number, and whether it is held."""

    number: str
    pays_out: bool = False
    poison_at: int = 0  # the payout with this sequence number holds the account; 0: none does
    sequence: int = 0


def payments(
    random: Random,
    *,
    run: str,
    count: int = 5_000,
    accounts: int = 200,
    faults: Faults | None = None,
) -> list[Planned]:
    """All deliveries of a run in their order: `count` payments and a quarter more of copies."""
    faults = faults or Faults()
    book = open_accounts(random, run=run, accounts=accounts, payouts=count // accounts)
    firsts = [payment(random, random.choice(book), run=run) for _ in range(count)]
    _spoil(random, firsts, faults)
    late, deliveries = _with_copies(random, firsts)
    _insert(random, deliveries, _changed(random, firsts, faults.changed))
    deliveries += [refused(run, n) for n in range(faults.refused)]
    return deliveries + late


def open_accounts(random: Random, *, run: str, accounts: int, payouts: int) -> list[Account]:
    """Accounts of a run; a few pay out, and half of those meet poison about half-way."""
    book = [Account(f"{run}-{n:04d}") for n in range(1, accounts + 1)]
    paying_out = book[: max(2, round(accounts * _PAYOUT_SHARE))]
    for account in paying_out:
        account.pays_out = True
    for account in paying_out[: max(1, round(len(paying_out) * _HELD_SHARE))]:
        account.poison_at = random.randint(max(2, payouts // 3), max(3, payouts // 2))
    return book


def payment(random: Random, account: Account, *, run: str) -> Planned:
    """The next payment into an account, or payout from it."""
    account.sequence += 1
    amount_cents = random.randint(100, LARGE_CENTS * 11 // 10)
    if account.pays_out:
        return _payout(account, run=run, amount_cents=amount_cents)
    kind = "payment.large" if amount_cents > LARGE_CENTS else "payment"
    routes = [_route("payments.apply", account, str(amount_cents))]
    if kind == "payment.large":
        routes.append(_route("payments.notify", account, "told"))
    return _first(account, run=run, kind=kind, amount_cents=amount_cents, routes=tuple(routes))


def changed(first: Planned) -> Planned:
    """The same key with another amount."""
    body = json.loads(first.body)
    return replace(
        first, role=Role.CHANGED, body=_json({**body, "amount_cents": body["amount_cents"] + 1})
    )


def not_a_number(first: Planned) -> Planned:
    """Poison: the body does not fit the payload's type."""
    return _dying(first, "not a number", amount_cents="twelve")


def of_nothing(first: Planned) -> Planned:
    """Poison: the handler refuses it."""
    return _dying(first, "of nothing", amount_cents=0)


def always_failing(first: Planned) -> Planned:
    """Poison: each attempt fails, until the limit."""
    return _dying(first, "always failing", fail_times=1_000)


def sometimes_failing(first: Planned, *, times: int) -> Planned:
    """A transient failure: so many attempts fail, then one succeeds."""
    return replace(first, body=_json({**json.loads(first.body), "fail_times": times}))


def refused(run: str, n: int) -> Planned:
    """A delivery that the source must not let in; by turns it has no key or is not JSON."""
    body, flaw = (
        (_json({"type": "payment", "account": f"{run}-none", "amount_cents": n}), Flaw.NO_KEY)
        if n % 2
        else ('{"id": "' + run, Flaw.NOT_JSON)
    )
    return Planned(
        source="payments",
        key="",
        type="payment",
        body=body,
        role=Role.REFUSED,
        lane=f"refused {n}",
        flaw=flaw,
    )


def _payout(account: Account, *, run: str, amount_cents: int) -> Planned:
    poison = account.sequence == account.poison_at
    parked = 0 < account.poison_at < account.sequence
    route = _route("payments.payout", account, str(-amount_cents))
    if poison:
        amount_cents = 0
        route = replace(route, fate=Fate.HOLDING, cause="nothing to pay out")
    elif parked:
        route = replace(route, fate=Fate.PARKED)
    return _first(account, run=run, kind="payout", amount_cents=amount_cents, routes=(route,))


def _route(consumer: str, account: Account, effect: str) -> Route:
    return Route(
        consumer=consumer,
        session=account.number,
        position=account.sequence,
        effect=f"{account.number} {account.sequence}: {effect}",
    )


def _first(
    account: Account, *, run: str, kind: str, amount_cents: int, routes: tuple[Route, ...]
) -> Planned:
    key = f"{account.number}-{account.sequence:06d}"
    body = {
        "id": key,
        "type": kind,
        "account": account.number,
        "sequence": account.sequence,
        "amount_cents": amount_cents,
        "reference": f"Invoice {account.sequence * 7919 % 100_000:05d} of the run {run}",
    }
    return Planned(
        source="payments",
        key=key,
        type=kind,
        body=_json(body),
        role=Role.FIRST,
        lane=account.number,
        routes=routes,
    )


def _dying(first: Planned, cause: str, **change: object) -> Planned:
    return replace(
        first,
        body=_json({**json.loads(first.body), **change}),
        routes=tuple(replace(route, fate=Fate.DEAD, cause=cause) for route in first.routes),
    )


def _spoil(random: Random, firsts: list[Planned], faults: Faults) -> None:
    """Give some plain payments a fault, in place."""
    plain = [n for n, first in enumerate(firsts) if first.type == "payment"]
    random.shuffle(plain)
    makers: list[Callable[[Planned], Planned]] = [
        *[not_a_number] * faults.not_a_number,
        *[of_nothing] * faults.of_nothing,
        *[always_failing] * faults.always_failing,
        *[partial(sometimes_failing, times=1 + n % 3) for n in range(faults.sometimes_failing)],
    ]
    for n, make in zip(plain, makers, strict=False):
        firsts[n] = make(firsts[n])


def _with_copies(random: Random, firsts: list[Planned]) -> tuple[list[Planned], list[Planned]]:
    """The late copies, and the firsts with the other copies at their places."""
    chosen = random.sample(range(len(firsts)), round(len(firsts) * _COPY_SHARE))
    shapes = {n: list(Shape)[turn % len(Shape)] for turn, n in enumerate(chosen)}
    places: list[tuple[float, Planned]] = []
    late: list[Planned] = []
    for n, first in enumerate(firsts):
        places.append((n, first))
        shape = shapes.get(n)
        if shape is Shape.TOGETHER:
            places.append((n + 0.1, copy_of(first, shape)))
        elif shape is Shape.SOON:
            places.append((n + random.randint(1, _SOON) + 0.5, copy_of(first, shape)))
        elif shape is Shape.LATE:
            late.append(copy_of(first, shape))
    return late, [each for _, each in sorted(places, key=lambda place: place[0])]


def _changed(random: Random, firsts: list[Planned], count: int) -> Iterator[Planned]:
    sound = [first for first in firsts if all(r.fate is Fate.DONE for r in first.routes)]
    return (changed(first) for first in random.sample(sound, min(count, len(sound))))


def _insert(random: Random, deliveries: list[Planned], more: Iterator[Planned]) -> None:
    """Put each changed delivery somewhere behind its first, never between a pair sent together."""
    for each in more:
        after = max(n for n, other in enumerate(deliveries) if other.key == each.key)
        place = random.randint(after + 1, len(deliveries))
        while place < len(deliveries) and deliveries[place].shape is Shape.TOGETHER:
            place += 1
        deliveries.insert(place, each)


def _json(body: dict[str, object]) -> str:
    return json.dumps(body, separators=(",", ":"))
