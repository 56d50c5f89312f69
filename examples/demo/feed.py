"""An endless gentle feed of both examples, so that every screen has something to show."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from itertools import count, cycle
from random import Random

from examples.demo import charges_set, github_set, payments_set
from examples.demo.github_set import Webhook
from examples.demo.payments_set import Account
from examples.demo.plan import Fate, Planned, Shape, copy_of
from examples.demo.request import Secrets
from examples.demo.send import NotAnsweredError, Sender, groups

PER_SECOND = 7
_GITHUB_SHARE = 0.2
_COPY_SHARE = 0.25
_PAYOUT_SHARE = 0.08
_CHARGE_SHARE = 0.04
_REMEMBERED = 500  # late copies are of one of so many last deliveries
_FOLLOWERS = 6  # payouts sent behind a poisoned one, before their account is closed
_GROWTH = 1.6  # each incident of a kind comes so much later than the one before it

log = logging.getLogger(__name__)


class Incidents:
    """Says when the next fault of a kind is due: soon after the start, then ever more rarely."""

    def __init__(self, first: int, *, slowest: int) -> None:
        self._next = first
        self._gap = float(first)
        self._slowest = slowest

    def is_due(self, n: int) -> bool:
        """Whether one is due at delivery n; then the next one is put off."""
        if n < self._next:
            return False
        self._gap = min(self._gap * _GROWTH, self._slowest)
        self._next = n + round(self._gap)
        return True


def traffic(
    random: Random, hooks: list[Webhook], *, run: str, has_charges: bool = False
) -> Iterator[Planned]:
    """Deliveries without end, in order; a copy that must leave together follows its first."""
    firsts = _firsts(random, hooks, run=run, has_charges=has_charges)
    recent: deque[Planned] = deque(maxlen=_REMEMBERED)
    changes, refusals = Incidents(25, slowest=2_000), Incidents(60, slowest=2_000)
    for n in count():
        first = next(firsts)
        yield first
        if random.random() < _COPY_SHARE:
            shape = random.choice(list(Shape))
            older = first if shape is Shape.TOGETHER or not recent else random.choice(recent)
            yield copy_of(older, Shape.TOGETHER if older is first else shape)
        if changes.is_due(n) and recent:
            yield _changed(random.choice(recent))
        if refusals.is_due(n):
            yield payments_set.refused(run, n)
        if all(route.fate is Fate.DONE for route in first.routes):
            recent.append(first)


def send_forever(
    deliveries: Iterator[Planned], *, url: str, secrets: Secrets, stop: threading.Event
) -> int:
    """Send at a gentle rate until told to stop; how many were answered comes back."""
    with closing(Sender(url, secrets, stop)) as sender:
        for group in groups(deliveries):
            if stop.wait(len(group) / PER_SECOND):
                break
            try:
                sender.send(group)
            except NotAnsweredError as error:
                log.warning("demo_not_answered", extra={"reason": str(error)})
        return sender.tally.deliveries


def _firsts(
    random: Random, hooks: list[Webhook], *, run: str, has_charges: bool
) -> Iterator[Planned]:
    payments = _payments(random, run=run)
    webhooks = _webhooks(hooks, run=run)
    charges = _charges(run=run)
    while True:
        if has_charges and random.random() < _CHARGE_SHARE:
            yield next(charges)
            continue
        yield next(webhooks if hooks and random.random() < _GITHUB_SHARE else payments)


def _payments(random: Random, *, run: str) -> Iterator[Planned]:
    book = [Account(f"{run}-{n:04d}") for n in range(1, 41)]
    poison, failures = Incidents(18, slowest=1_500), Incidents(8, slowest=200)
    payouts = _payouts(random, run=run)
    makers = cycle(
        (payments_set.of_nothing, payments_set.not_a_number, payments_set.always_failing)
    )
    for n in count():
        if random.random() < _PAYOUT_SHARE:
            yield next(payouts)
            continue
        first = payments_set.payment(random, random.choice(book), run=run)
        if first.type == "payment" and poison.is_due(n):
            first = next(makers)(first)
        elif first.type == "payment" and failures.is_due(n):
            first = payments_set.sometimes_failing(first, times=random.randint(1, 3))
        yield first


def _payouts(random: Random, *, run: str) -> Iterator[Planned]:
    """Payouts; now and then an account meets poison, collects a few followers and is closed."""
    numbers = count(9_001)
    account = Account(f"{run}-{next(numbers)}", pays_out=True, poison_at=4)
    holds = Incidents(1, slowest=200)
    for n in count():
        yield payments_set.payment(random, account, run=run)
        if account.sequence >= (account.poison_at or 4) + _FOLLOWERS:
            poison_at = 4 if holds.is_due(n // _FOLLOWERS) else 0
            account = Account(f"{run}-{next(numbers)}", pays_out=True, poison_at=poison_at)


def _charges(*, run: str) -> Iterator[Planned]:
    """Charges by each way in turn; now and then an answer is lost and the outcome stays unknown."""
    cards, vouchers = Incidents(1, slowest=150), Incidents(3, slowest=400)
    for n in count(1):
        by = charges_set.WAYS[(n - 1) % 3]
        pretend = "none"
        if by == "card" and cards.is_due(n):
            pretend = "closed"
        elif by == "voucher" and vouchers.is_due(n):
            pretend = "drop"
        yield charges_set.charge(run=run, n=n, by=by, pretend=pretend)


def _webhooks(hooks: list[Webhook], *, run: str) -> Iterator[Planned]:
    """The real payloads over and over, each round with ids of its own."""
    position = count(1)
    for turn in count(1):
        for hook in hooks:
            yield github_set.first(hook, run=f"{run} {turn}", position=next(position))


def _changed(first: Planned) -> Planned:
    if first.source == "github":
        return github_set.changed(first)
    return payments_set.changed(first)
