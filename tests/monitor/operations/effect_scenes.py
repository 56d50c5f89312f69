"""Scenes of the verbs on effects and leases, and the consumer that declares the effect."""

from __future__ import annotations

from collections.abc import Callable

from monitor.domain.actor import Permission
from monitor.domain.consumer import Consumer
from monitor.domain.effect import Call, Effect, Evidence, Told
from monitor.engine import registry
from monitor.operations import effects, sessions
from tests import factories, factory_effects
from tests.monitor.operations.scenes import Scene, version
from tests.rows import one, run

PREFIX = "scene."  # of the consumers that are declared here; conftest.py forgets them


def in_doubt(
    probe: Callable[[Call], Evidence] | None = None,
    *,
    kind: str = "queryable",
    can_be_asked: bool = True,
) -> tuple[int, int]:
    """A message of a declared external consumer, in doubt by its effect “charge”; both ids."""
    owner = factories.consumer()
    name = f"{PREFIX}{owner}"
    _rename(owner, name)
    ask = (probe or _found_it) if can_be_asked else None
    charge = Effect(name="charge", call=_never, kind=kind, reconcile=ask)
    registry.add(
        Consumer(name=name, source="payments", handler=_never, external=True, effects=(charge,))
    )
    return factory_effects.in_doubt(owner, kind=kind)


def reconcile() -> Scene:
    """An effect in doubt whose provider knows that it was done."""
    _, number = in_doubt()
    seen = version("comboio_effect", number)
    return Scene(
        verb="reconcile",
        permission=Permission.OPERATE,
        target=("effect", number),
        use=lambda actor: effects.reconcile_now(actor, number, seen=seen),
    )


def mark_done() -> Scene:
    """An effect in doubt."""
    _, number = in_doubt()
    seen = version("comboio_effect", number)
    return Scene(
        verb="mark done",
        permission=Permission.DECIDE,
        target=("effect", number),
        use=lambda actor: effects.mark_done(
            actor, number, seen=seen, reference="ch_1", reason="seen in their console"
        ),
    )


def mark_not_done() -> Scene:
    """An effect in doubt."""
    _, number = in_doubt()
    seen = version("comboio_effect", number)
    return Scene(
        verb="mark not done",
        permission=Permission.DECIDE,
        target=("effect", number),
        use=lambda actor: effects.mark_not_done(
            actor, number, seen=seen, reason="asked them by telephone"
        ),
    )


def escalate() -> Scene:
    """An effect in doubt."""
    message, number = in_doubt()
    seen = version("comboio_effect", number)
    return Scene(
        verb="escalate",
        permission=Permission.OPERATE,
        target=("effect", number),
        use=lambda actor: effects.escalate(actor, number, seen=seen, reason="a large sum"),
        message=message,
    )


def steal() -> Scene:
    """A session that a worker has leased."""
    message = factories.message(factories.consumer())
    session = int(one("SELECT session FROM comboio_message WHERE id = %(id)s", id=message))
    fence = factory_effects.lease(message)
    return Scene(
        verb="steal",
        permission=Permission.DECIDE,
        target=("session", session),
        use=lambda actor: sessions.steal(actor, session, seen=fence, reason="the host is lost"),
        message=message,
    )


def _rename(consumer_id: int, name: str) -> None:
    run("UPDATE comboio_consumer SET name = %(name)s WHERE id = %(id)s", name=name, id=consumer_id)


def _found_it(call: Call) -> Evidence:
    return Evidence(told=Told.DONE, result={"receipt": 1}, reference=f"ch_{call.message_id}")


def _never(_call: object) -> None:
    raise AssertionError("no handler and no call runs here")


SCENES = (reconcile, mark_done, mark_not_done, escalate, steal)
