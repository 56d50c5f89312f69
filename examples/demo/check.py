"""Compares what came of a run with what its plan intended."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from examples.demo.effects import Effect
from examples.demo.plan import Plan
from monitor.store.sql import Cursor, load

SQL = load(__file__)

_SET_ASIDE = frozenset({"dead", "parked", "discarded", "in doubt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A message of the run as the database knows it; parked: waiting behind its held session."""

    id: int
    consumer: str
    key: str
    session: str
    duplicates: int
    mismatches: int
    state: str


def watermark(cursor: Cursor) -> int:
    """The last message id given out so far."""
    return _count(cursor, "watermark")


def unfinished(cursor: Cursor, after: int) -> int:
    """How many messages after the watermark still may run: those of held sessions do not count."""
    return _count(cursor, "unfinished", watermark=after)


def messages(cursor: Cursor, keys: Sequence[str]) -> list[Seen]:
    """Every message with one of these keys, in no order."""
    cursor.execute(SQL["messages"], {"keys": list(keys)})
    return [
        Seen(
            id=message_id,
            consumer=consumer,
            key=key,
            session=session,
            duplicates=duplicates,
            mismatches=mismatches,
            state=state,
        )
        for message_id, consumer, key, session, duplicates, mismatches, state in cursor.fetchall()
    ]


def effect_keys(cursor: Cursor, seen: Sequence[Seen]) -> list[str]:
    """The keys under which these messages made their calls to the outside."""
    cursor.execute(SQL["effect_keys"], {"ids": [each.id for each in seen]})
    return [key for (key,) in cursor.fetchall()]


def alerts(cursor: Cursor, seen: Sequence[Seen]) -> int:
    """How many live alerts these messages raised."""
    ids = [each.id for each in seen]
    return _count(cursor, "alerts", ids=ids, texts=[str(each) for each in ids])


def figures(plan: Plan, seen: Sequence[Seen], effects: Sequence[Effect]) -> dict[str, int]:
    """What came of the run: the figures of `plan.intended` that tables can tell, and the faults."""
    states = Counter(each.state for each in seen)
    return {
        "accepted": len(seen),
        "duplicates": sum(each.duplicates for each in seen),
        "mismatches": sum(each.mismatches for each in seen),
        "done": states["done"],
        "dead": states["dead"],
        "parked": states["parked"],
        "in_doubt": states["in doubt"],
        "discarded": states["discarded"],
        "sessions": len({(each.consumer, each.session) for each in seen if each.session}),
        "effects": len(effects),
        "lost": lost(plan, seen, effects),
        "doubles": doubles(plan, seen, effects),
        "order_violations": order_violations(plan, effects),
    }


def lost(plan: Plan, seen: Sequence[Seen], effects: Sequence[Effect]) -> int:
    """Planned messages without their effect that are not dead, parked, discarded or in doubt.

    An effect with another content than the plan's (an amount that was changed on the way) is none.
    """
    state_of = {(each.consumer, each.key): each.state for each in seen}
    present = {(each.consumer, each.key, each.text) for each in effects}
    return sum(
        (route.consumer, key, route.effect) not in present
        and state_of.get((route.consumer, key)) not in _SET_ASIDE
        for key, route in plan.routes
    )


def doubles(plan: Plan, seen: Sequence[Seen], effects: Sequence[Effect]) -> int:
    """Effects beyond the one that each done message may have; those of no done message too."""
    done = {(each.consumer, each.key) for each in seen if each.state == "done"}
    allowed = Counter(
        (route.consumer, key, route.effect)
        for key, route in plan.routes
        if (route.consumer, key) in done
    )
    present = Counter((each.consumer, each.key, each.text) for each in effects)
    return (present - allowed).total()


def order_violations(plan: Plan, effects: Sequence[Effect]) -> int:
    """Effects that do not come behind the one before them in their session."""
    places = {(route.consumer, key): (route.session, route.position) for key, route in plan.routes}
    last: defaultdict[tuple[str, str], int] = defaultdict(int)
    violations = 0
    for effect in effects:
        session, position = places.get((effect.consumer, effect.key), ("", 0))
        if not session:
            continue
        violations += position <= last[effect.consumer, session]
        last[effect.consumer, session] = position
    return violations


def _count(cursor: Cursor, name: str, **parameters: Any) -> int:
    cursor.execute(SQL[name], parameters)
    row = cursor.fetchone()
    assert row is not None  # noqa: S101 - an aggregate gives one row
    return int(row[0])
