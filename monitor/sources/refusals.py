"""Counts what was not let in, by source and reason; a count that fails refuses nobody."""

from __future__ import annotations

import psycopg
import structlog
from django.db import Error, connection

from monitor.domain.consumer import NO_CONSUMER
from monitor.sources.refusal import Reason, Refusal
from monitor.store import rollup

UNKNOWN = "-"  # a name that someone made up must not become a label

log = structlog.get_logger("comboio")


def count(source: str, refusal: Refusal) -> None:
    """Count and log a refusal. Without a database there is only the log line."""
    name = UNKNOWN if refusal.reason is Reason.UNKNOWN_SOURCE else source
    log.warning("delivery_refused", source=name, outcome=refusal.reason.value, detail=str(refusal))
    if refusal.reason is Reason.NOT_DURABLE:
        return  # the database has just failed: asking it again would only keep the sender waiting
    try:
        with connection.cursor() as cursor:
            rollup.add(cursor, [(NO_CONSUMER, "refused", f"{name}:{refusal.reason}", 1.0)])
    except (Error, psycopg.Error):
        log.warning("refusal_not_counted", source=name)
