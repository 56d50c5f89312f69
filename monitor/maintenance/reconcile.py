"""Asks providers about effects in doubt when it is due, without a person."""

from __future__ import annotations

import psycopg
import structlog
from django.db import Error, connection, transaction

from monitor.domain.effect import Evidence
from monitor.engine import probing, verdict
from monitor.engine.steadiness import WATCH
from monitor.maintenance import patience
from monitor.store import connections, lanes, reconciling
from monitor.store.reconciling import Asked

AT_ONCE = 20  # probes that are out together, each in a thread of its own
LOCK_SECONDS = 2.0  # for a lane in which a batch runs; then the effect is asked about again later

_log = structlog.get_logger("comboio")


def run() -> int:
    """Ask about what is due, at most 20, and let the answers count; how many were asked about.

    Wants no transaction: it opens a short one to take what is due, none while it asks, and one for
    each answer. Another process may do the same at the same time: no effect is asked about twice.
    """
    askable = probing.askable()
    if not askable:
        return 0
    with patience.limited(), transaction.atomic(durable=True):
        cursor = connections.shared_cursor()
        WATCH.look(cursor)
        due = reconciling.claim_due(cursor, askable, AT_ONCE)
    for asked, evidence in zip(due, probing.ask_all(due), strict=True):
        _settle(asked, evidence)
    return len(due)


def _settle(asked: Asked, evidence: Evidence) -> None:
    """Let one answer count; one that cannot be stored keeps none of the others from it."""
    facts = {
        "consumer": asked.consumer_name,
        "effect": asked.name,
        "effect_id": asked.id,
        "message_id": asked.message_id,
        "traceparent": asked.traceparent,
        "told": str(evidence.told),
    }
    try:
        with patience.limited(), transaction.atomic(durable=True):
            cursor = connections.shared_cursor()
            lanes.wait_at_most(cursor, LOCK_SECONDS)
            outcome = verdict.settle(cursor, asked.id, evidence, source="probe")
    except (Error, psycopg.Error) as error:
        _log.warning("probe_not_stored", error_class=type(error).__qualname__, **facts)
        connection.close()
    else:
        _log.info("effect_probed", outcome=str(outcome.kind), **facts)
