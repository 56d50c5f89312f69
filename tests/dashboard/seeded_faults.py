"""Eight things that are wrong, each with the cause that the Overview names and what mends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests import factories, factory_effects, factory_order
from tests.rows import one, run


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that is wrong, the cause that the page names, the button, and what is typed in."""

    make: Callable[[int], object]
    cause: str
    button: str
    typed: dict[str, str]


def _dead_head(owner: int) -> None:
    factories.message(
        owner, state="dead", session="acc-1", holds=True, error="ValueError: no such account"
    )
    factories.message(owner, session="acc-1")


def _dead(count: int) -> Callable[[int], None]:
    def make(owner: int) -> None:
        for n in range(count):
            factories.message(
                owner,
                state="dead",
                session=f"s{n}",
                cause="poison: x",
                error="KeyError: 'tax_id'",
            )

    return make


def _held_session(owner: int) -> None:
    factories.message(owner, session="acc-1")
    session = one("SELECT id FROM comboio_session WHERE key = 'acc-1'")
    factories.gate(session, held_by="bert")


def _held_consumer(owner: int) -> None:
    run(
        "UPDATE comboio_consumer SET held = true, held_at = now() - interval '5 minutes',"
        " held_by = 'bert', held_reason = 'maintenance' WHERE id = %(id)s",
        id=owner,
    )
    factories.message(owner, session="acc-1")


def _in_doubt(owner: int) -> None:
    factory_effects.in_doubt(owner, key="charge-1")


def _gap(owner: int) -> None:
    number = factory_order.message(owner, 3, session="acc-1")
    session = one("SELECT session FROM comboio_message WHERE id = %(id)s", id=number)
    factory_order.gap(session, missing=2, before=3)


def _mismatch(owner: int) -> None:
    factories.mismatch(factories.message(owner, session="acc-1"))


FAULTS = {
    "a dead head holds its session": Fault(
        make=_dead_head, cause="ValueError: no such account", button="Requeue message", typed={}
    ),
    "a few are dead of one cause": Fault(
        make=_dead(3), cause="KeyError: 'tax_id'", button="Requeue 3 messages", typed={}
    ),
    "many are dead of one cause": Fault(
        make=_dead(101), cause="KeyError: 'tax_id'", button="Requeue 101 messages…", typed={}
    ),
    "a session is held by a person": Fault(
        make=_held_session, cause="bert: asked to wait", button="Resume the session", typed={}
    ),
    "a consumer is held by a person": Fault(
        make=_held_consumer, cause="bert: maintenance", button="Resume the consumer", typed={}
    ),
    "an effect is in doubt": Fault(
        make=_in_doubt, cause="comboio-", button="Ask the provider", typed={}
    ),
    "a number is missing": Fault(
        make=_gap, cause="Its sender left a number out", button="Skip", typed={"reason": "lost"}
    ),
    "an id was used twice": Fault(
        make=_mismatch,
        cause="Its sender used one id for two different payloads",
        button="Keep first",
        typed={"reason": "their bug"},
    ),
}
