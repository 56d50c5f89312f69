"""Asks providers about effects in doubt when it is due, without a person."""

from __future__ import annotations

import structlog
from django.db import transaction

from monitor.domain.effect import Evidence
from monitor.engine import probing, verdict
from monitor.engine.verdict import Outcome
from monitor.store import connections, reconciling
from monitor.store.reconciling import Asked

AT_ONCE = 20  # probes that are out together, each in a thread of its own

_log = structlog.get_logger("comboio")


def run() -> int:
    """Ask about what is due, at most 20, and let the answers count; how many were asked about.

    Wants no transaction: it opens a short one to take what is due, none while it asks, and one for
    each answer. Another process may do the same at the same time: no effect is asked about twice.
    """
    askable = probing.askable()
    if not askable:
        return 0
    with transaction.atomic(durable=True):
        due = reconciling.claim_due(connections.shared_cursor(), askable, AT_ONCE)
    for asked, evidence in zip(due, probing.ask_all(due), strict=True):
        _tell(asked, evidence, _settle(asked, evidence))
    return len(due)


def _settle(asked: Asked, evidence: Evidence) -> Outcome:
    with transaction.atomic(durable=True):
        cursor = connections.shared_cursor()
        return verdict.settle(cursor, asked.id, evidence, source="probe")


def _tell(asked: Asked, evidence: Evidence, outcome: Outcome) -> None:
    _log.info(
        "effect_probed",
        consumer=asked.consumer_name,
        effect=asked.name,
        effect_id=asked.id,
        message_id=asked.message_id,
        traceparent=asked.traceparent,
        told=str(evidence.told),
        outcome=str(outcome.kind),
    )
