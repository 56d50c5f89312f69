"""Sessions that run by number, whose messages overtake each other on their way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from time import sleep

from monitor.domain.message import Delivery
from monitor.domain.order import Numbered
from proof.checkers.facts import Facts, Violation
from proof.mutants import sending
from proof.mutants.floor import Floor, declare_otherwise, fork, wait
from proof.mutants.mutant import Scene, without
from proof.profiles import Profile
from proof.workload.batches import Sent
from proof.workload.plan import Item, Plan

_CONSUMER = "proof.append"
_STRETCH = 6  # how far a message may be overtaken
_SECONDS = 20.0
_GAP_SECONDS = 0.05  # how long a message stands before one that it overtook: time to run


def _play(floor: Floor) -> None:
    declare_otherwise(_CONSUMER, numbered=Numbered())
    floor.fleet.start()
    senders = range(floor.scene.profile.senders)
    for pid in [fork(lambda sender=sender: _send(floor, sender)) for sender in senders]:  # type: ignore[misc]
        wait(pid, _SECONDS)
    floor.drain()
    floor.tidy_up()


def _send(floor: Floor, sender: int) -> None:
    """Each stretch of messages in an order of its own, a few at a time."""
    random = Random(floor.seed + sender)  # noqa: S311 - a plan, not a secret
    places = ranks(floor.plan)

    def numbered(delivery: Delivery, item: Item) -> Delivery:
        return replace(delivery, sequence=places[item.n])

    items = [floor.plan.item(n) for n in floor.plan.numbers(sender)]
    for at in range(0, len(items), _STRETCH):
        stretch = items[at : at + _STRETCH]
        random.shuffle(stretch)
        while stretch:
            item = stretch.pop()
            sending.deliver([Sent(item=item)], sender, numbered)
            if any(late.session == item.session and late.n < item.n for late in stretch):
                sleep(_GAP_SECONDS)


def ranks(plan: Plan) -> dict[int, int]:
    """The number in its session of each message, from 1 on."""
    counts: Counter[str] = Counter()
    found = {}
    for item in plan.items():
        counts[item.session] += 1
        found[item.n] = counts[item.session]
    return found


def _numbers(facts: Facts) -> Iterator[Violation]:
    """Each session ran by its numbers, one after the other."""
    places = ranks(facts.plan)
    last: Counter[str] = Counter()
    for row in facts.appended:
        place = places[row.n]
        if place != last[row.session] + 1:
            text = f"session {row.session}: number {place} ran after {last[row.session]}"
            yield Violation(
                kind="order_violations", text=text, key=row.key, message_id=row.message_id
            )
        last[row.session] = place


SCENE = Scene(
    name="numbered",
    profile=Profile(
        name="numbered",
        messages=240,
        seconds=1,
        senders=3,
        shares={"append": 1.0},
        long_runs=0,
        duplicates=0,
        mismatches=0,
    ),
    play=_play,
    checks={**without("session_order"), "numbers": _numbers},
)
