"""What the demo will send and what must come of it, as plain values and as a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

CHARGE = "charge"  # the type of messages that a provider is called for


class Role(StrEnum):
    """What a delivery is, judged by its key and its body."""

    FIRST = "first"
    COPY = "copy"  # the same key and body again
    CHANGED = "changed"  # the same key, another body
    REFUSED = "refused"  # no source may let it in


class Shape(StrEnum):
    """When a copy is sent."""

    TOGETHER = "together"  # at the same moment as its first, on another connection
    SOON = "soon"  # a few deliveries later
    LATE = "late"  # when everything else has been processed


class Fate(StrEnum):
    """Where a message ends."""

    DONE = "done"
    DEAD = "dead"
    HOLDING = "holding"  # dead, and it holds its session
    PARKED = "parked"  # behind a dead message that holds the session
    IN_DOUBT = "in doubt"  # the provider did not answer and cannot be asked


class Flaw(StrEnum):
    """Why a delivery is refused."""

    NONE = ""
    SIGNATURE = "signature"
    NO_KEY = "no key"
    NOT_JSON = "not JSON"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What one consumer makes of a message. position counts upwards within the session."""

    consumer: str
    session: str  # "" means none
    position: int
    effect: str  # the row it leaves, in words that `effects` can read back from the tables
    fate: Fate = Fate.DONE
    cause: str = ""  # why it dies; messages of one cause share an alert


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One delivery. Those of one lane are sent one after the other, in the order of the plan."""

    source: str
    key: str
    type: str
    body: str
    role: Role
    lane: str
    routes: tuple[Route, ...] = ()
    shape: Shape | None = None
    flaw: Flaw = Flaw.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All deliveries of a run, in order. The run's name is part of every key."""

    run: str
    seed: int
    deliveries: tuple[Planned, ...]

    @property
    def firsts(self) -> Iterator[Planned]:
        """The deliveries that become messages."""
        return (each for each in self.deliveries if each.role is Role.FIRST)

    @property
    def routes(self) -> Iterator[tuple[str, Route]]:
        """Key and route of every message: one for each consumer that takes the delivery."""
        return ((first.key, route) for first in self.firsts for route in first.routes)

    @property
    def keys(self) -> list[str]:
        """Every key that is sent, refused ones too."""
        return sorted({each.key for each in self.deliveries if each.key})


def copy_of(first: Planned, shape: Shape) -> Planned:
    """The same delivery again."""
    return replace(first, role=Role.COPY, shape=shape)


def intended(plan: Plan) -> dict[str, int]:
    """The figures that a faultless run reports.

    deliveries and refused count requests; all others count messages, one for each consumer.
    """
    fates = [route.fate for _, route in plan.routes]
    routes_of = {role: _routes(plan.deliveries, role) for role in Role}
    return {
        "deliveries": len(plan.deliveries),
        "accepted": routes_of[Role.FIRST],
        "duplicates": routes_of[Role.COPY],
        "mismatches": routes_of[Role.CHANGED],
        "refused": sum(each.role is Role.REFUSED for each in plan.deliveries),
        "done": fates.count(Fate.DONE),
        "dead": fates.count(Fate.DEAD) + fates.count(Fate.HOLDING),
        "parked": fates.count(Fate.PARKED),
        "in_doubt": fates.count(Fate.IN_DOUBT),
        "discarded": 0,
        "alerts": _alerts(plan),
        "sessions": len({(r.consumer, r.session) for _, r in plan.routes if r.session}),
        "effects": fates.count(Fate.DONE),
        # An answer that is lost says nothing about the charge: each of them happens.
        "effects_external": sum(each.type == CHARGE for each in plan.firsts),
    }


def write(plan: Plan, path: Path) -> None:
    """Write the plan as JSON lines: the run with its intended figures, then the deliveries."""
    head = {"run": plan.run, "seed": plan.seed, "intended": intended(plan)}
    with path.open("w", encoding="utf-8") as file:
        for value in (head, *(asdict(each) for each in plan.deliveries)):
            file.write(json.dumps(value, ensure_ascii=False) + "\n")


def read(path: Path) -> Plan:
    """The plan that `write` wrote."""
    with path.open(encoding="utf-8") as file:
        head = json.loads(next(file))
        deliveries = tuple(_planned(json.loads(line)) for line in file)
    return Plan(run=head["run"], seed=head["seed"], deliveries=deliveries)


def _routes(deliveries: Iterable[Planned], role: Role) -> int:
    return sum(len(each.routes) for each in deliveries if each.role is role)


def _alerts(plan: Plan) -> int:
    """One for each cause of death, held session, message with a mismatch and effect in doubt."""
    doubts = sum(route.fate is Fate.IN_DOUBT for _, route in plan.routes)
    dead = [r for _, r in plan.routes if r.fate in (Fate.DEAD, Fate.HOLDING)]
    causes = {(route.consumer, route.cause) for route in dead}
    held = {(route.consumer, route.session) for route in dead if route.fate is Fate.HOLDING}
    changed = {
        (each.key, route.consumer)
        for each in plan.deliveries
        if each.role is Role.CHANGED
        for route in each.routes
    }
    return len(causes) + len(held) + len(changed) + doubts


def _planned(value: dict[str, object]) -> Planned:
    routes = tuple(
        Route(**{**route, "fate": Fate(route["fate"])})
        for route in value.pop("routes")  # type: ignore[attr-defined]
    )
    shape = value.pop("shape")
    return Planned(
        **{
            **value,
            "role": Role(str(value["role"])),
            "flaw": Flaw(str(value["flaw"])),
        },  # type: ignore[arg-type]
        routes=routes,
        shape=Shape(str(shape)) if shape else None,
    )
