"""Consumers whose downstream is away are throttled to one try at a time, and heal by themselves.

Without it, each try of each message would end in a time-out, and the whole backlog would die.
Source: M. Nygard, "Release It!", 2007, the Circuit Breaker pattern; the state is in the database.
"""

from __future__ import annotations

from monitor.domain.states import AlertKind
from monitor.engine import telemetry
from monitor.engine.failure import Settled
from monitor.engine.target import Target
from monitor.store import alerts, breakers
from monitor.store.sql import Cursor

FAILURES = 5  # in a row


def learn(cursor: Cursor, target: Target, settled: Settled, *, has_success: bool) -> None:
    """What a batch says about the downstream of its consumer. Wants the batch's transaction."""
    if has_success:
        if target.is_troubled:
            _heal(cursor, target)
    elif settled.away:
        _count(cursor, target, settled)


def begin_probe(cursor: Cursor, target: Target) -> bool:
    """Take the next try of a throttled consumer. False: it is not due, or another has it."""
    return breakers.begin_probe(cursor, target.id)


def _heal(cursor: Cursor, target: Target) -> None:
    breakers.close(cursor, target.id)
    alerts.resolve(cursor, AlertKind.THROTTLED_CONSUMER, target.id, target.consumer.name)
    telemetry.engine_event("downstream back", consumer=target.consumer.name)


def _count(cursor: Cursor, target: Target, settled: Settled) -> None:
    has_opened = breakers.count(
        cursor, target.id, settled.away, limit=FAILURES, error=settled.away_error
    )
    if has_opened:
        telemetry.engine_event("throttled", consumer=target.consumer.name)
        title = f"{target.consumer.name} is throttled: its downstream is away: {settled.away_error}"
        settled.alerts.append(
            alerts.Alert(
                kind=AlertKind.THROTTLED_CONSUMER,
                consumer=target.id,
                subject=target.consumer.name,
                title=title[:300],
                target=target.id,
            )
        )
