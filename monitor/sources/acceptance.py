"""Stores batches in transactions of their own, and finds the message that can never be stored."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
import structlog

from monitor.domain.errors import RejectedDeliveryError
from monitor.domain.message import Delivery, Receipt
from monitor.domain.states import Verdict
from monitor.engine import ingest
from monitor.sources.base import Source, bare, set_aside
from monitor.sources.health import Health
from monitor.store import connections

# Longer than any statement may take: only an answer that never comes reaches it.
_DEADLINE_SECONDS = 28.0
_TRIES = 3  # of a batch whose locks were not free, before the connection is given up
_LOCKS_NOT_FREE = ("40P01", "40001", "55P03", "57014")
_LIMIT_EXCEEDED = "54"  # SQLSTATE class: this value is too large for the database
# The message is at fault, not the database: it would fail again for ever.
_FAULTS = (
    psycopg.DataError,
    psycopg.IntegrityError,
    RejectedDeliveryError,
    ValueError,
    ArithmeticError,
)

log = structlog.get_logger(__name__)


class Acceptance:
    """Where a receiver puts its batches, on its own connection (autocommit)."""

    def __init__(self, connection: connections.Connection, source: Source, health: Health) -> None:
        self._connection = connection
        self._source = source
        self._health = health

    def store(self, deliveries: Sequence[Delivery]) -> None:
        """Every delivery is durable when this returns: accepted, or set aside with a reason.

        Raises psycopg.Error when the database is away or its answer to the commit was lost: then
        nothing may be acknowledged. The batch comes again, and the insert itself waits for its twin
        and tells whether it was stored.
        """
        try:
            self._commit(deliveries)
        except Exception as error:
            if not _is_at_fault(error):
                raise
            for each in deliveries:
                self._store_one(each)

    def _store_one(self, delivery: Delivery) -> None:
        try:
            self._commit([delivery])
        except Exception as error:
            if not _is_at_fault(error):
                raise
            aside = delivery if delivery.malformed else set_aside(delivery, _words(error))
            log.warning("message_set_aside", source=self._source.name, dedup_key=aside.key)
            self._commit([bare(aside)])

    def _commit(self, deliveries: Sequence[Delivery]) -> None:
        for tries_left in reversed(range(_TRIES)):
            try:
                with connections.deadline(self._connection, _DEADLINE_SECONDS):
                    receipts = self._accept(deliveries)
            except psycopg.OperationalError as error:
                if (
                    self._connection.broken
                    or error.sqlstate not in _LOCKS_NOT_FREE
                    or not tries_left
                ):
                    raise
            else:
                self._health.stored(receipts)
                return

    def _accept(self, deliveries: Sequence[Delivery]) -> list[list[Receipt]]:
        ignores = self._source.ignores_unrouted
        with self._connection.transaction(), self._connection.cursor() as cursor:
            receipts = ingest.accept(cursor, deliveries, ignore_unrouted=ignores)
            refused = {
                place: each.reason
                for place, answers in enumerate(receipts)
                for each in answers
                if each.verdict is Verdict.REFUSED
            }
            if refused:
                # A broker has nobody to answer 400 to: what is refused is kept as a dead letter.
                aside = [set_aside(deliveries[place], why) for place, why in refused.items()]
                answers = ingest.accept(cursor, aside, ignore_unrouted=ignores)
                for place, answer in zip(refused, answers, strict=True):
                    receipts[place] = answer
        return receipts


def _is_at_fault(error: Exception) -> bool:
    if isinstance(error, psycopg.OperationalError):
        return (error.sqlstate or "").startswith(_LIMIT_EXCEEDED)
    return isinstance(error, _FAULTS)


def _words(error: Exception) -> str:
    return f"It cannot be stored: {type(error).__name__}: {error}"
