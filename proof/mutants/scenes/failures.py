"""Messages that fail a few times or always, among others of their sessions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from monitor import Message
from monitor.domain.message import Delivery
from monitor.engine import directory, registry
from proof import consumers
from proof.checkers.facts import Facts, Violation
from proof.mutants import sending
from proof.mutants.floor import Floor
from proof.mutants.mutant import Scene, without
from proof.profiles import Profile
from proof.workload.plan import Item

_FLAKY, _APPEND = "proof.flaky", "proof.append"
_MIXED = ("flaky", "append")
_SENDERS, _SESSIONS = 3, 3


def _play(floor: Floor) -> None:
    plain = registry.get(_FLAKY)
    assert plain is not None  # noqa: S101 - the proof declares it
    for name in (_FLAKY, _APPEND):
        registry.remove(name)
    registry.add(replace(plain, types=_MIXED, session=None, handler=_either))
    directory.forget()
    floor.fleet.start()
    sending.send(floor, pause=0.005, shape=_mixed)
    floor.drain()
    floor.tidy_up()


def _either(payload: dict[str, Any], message: Message) -> None:
    apply = consumers.flaky if message.type == "flaky" else consumers.append
    apply(payload, message)


def _mixed(delivery: Delivery, item: Item) -> Delivery:
    """Those that fail and those that do not share a few sessions of each sender."""
    if item.kind not in _MIXED:
        return delivery
    place, sender = divmod(item.n, _SENDERS)
    return replace(delivery, session=f"mixed-{sender}-{place % _SESSIONS}")


def _tries(facts: Facts) -> Iterator[Violation]:
    """No attempt begins with a number below one that had begun before: nobody forgets."""
    highest: dict[int, int] = {}
    for line in facts.lines:
        if line["event"] != "start":
            continue
        before = highest.get(line["id"], 0)
        if line["attempt"] < before:
            text = f"attempt {line['attempt']} began after attempt {before}"
            yield Violation(kind="other", text=text, key=line["key"], message_id=line["id"])
        highest[line["id"]] = max(before, line["attempt"])


SCENE = Scene(
    name="failures",
    profile=Profile(
        name="failures",
        messages=210,
        seconds=1,
        senders=_SENDERS,
        batch=10,
        shares={"append": 0.3, "flaky": 0.25, "poison": 0.1},
        long_runs=0,
        duplicates=0.1,
        mismatches=0,
        accounts=50,
    ),
    play=_play,
    checks={**without(), "tries": _tries},
)
