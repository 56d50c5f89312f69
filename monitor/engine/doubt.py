"""Messages in doubt: how they leave the queue, and how a known outcome brings them back."""

from __future__ import annotations

from monitor.domain import rendering
from monitor.domain.errors import MarkerError
from monitor.domain.states import AlertKind
from monitor.engine import calling, failure
from monitor.engine.choose import Candidate
from monitor.engine.target import Target
from monitor.store import alerts, effects, events, gates
from monitor.store.sql import Cursor

FIRST_PROBE_SECONDS = 2.0


def unknown_effect(cursor: Cursor, message_id: int) -> int | None:
    """The effect of a message whose outcome nobody knows; None: all are known."""
    return effects.unknown(cursor, message_id)


def set_aside(
    cursor: Cursor, target: Target, pick: Candidate, effect_id: int, settled: failure.Settled
) -> bool:
    """Move the message out of the queue until the outcome of its effect is known.

    Wants the lane. False: it is known by now (a late answer, a callback), and the message stays.
    Raises MarkerError when the message was not in the queue.
    """
    record = effects.by_id(cursor, effect_id)
    if record is None:
        raise MarkerError(f"Effect {effect_id} is gone.", (pick.id,))
    if not record.is_open:
        return False
    declared = target.consumer.effect(record.name)
    can_ask = declared is not None and declared.reconcile is not None
    effects.doubt(cursor, effect_id, probe_seconds=FIRST_PROBE_SECONDS if can_ask else None)
    calling.count(cursor, target.id, "in doubt")
    moved = effects.set_aside(
        cursor,
        {
            "lane": pick.lane,
            "session": pick.session,
            "message": pick.id,
            "consumer": target.id,
            "effect": effect_id,
            "attempts": pick.failed_attempts,
        },
    )
    if not moved:
        raise MarkerError(f"Message {pick.id} left the queue meanwhile.", (pick.id,))
    gates.drop_retry(cursor, pick.session)
    events.write_many(cursor, "in doubt", {pick.id: {"effect": record.name, "key": record.key}})
    settled.alerts.append(
        alerts.Alert(
            kind=AlertKind.EFFECT_IN_DOUBT,
            consumer=target.id,
            subject=str(effect_id),
            title=f"The outcome of “{record.name}” with key {record.key} is unknown",
            target=effect_id,
            cause=_cause(record),
        )
    )
    return True


def _cause(record: effects.Record) -> str:
    """Equal for calls of one effect that were left without an outcome by errors of one shape."""
    error = rendering.shape(record.error)
    return f"{record.name}-{rendering.digest(error)}" if error else record.name
