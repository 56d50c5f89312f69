"""What becomes of a message whose handler failed: another try later, or the dead letters."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import psycopg
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from psycopg.pq import ConnStatus

from monitor.domain.consumer import Consumer
from monitor.domain.errors import (
    DeadLetter,
    DownstreamAway,
    HandlerError,
    MarkerError,
    RetryLater,
    WrongSessionError,
)
from monitor.domain.rendering import RenderedError
from monitor.domain.retry import delay_seconds
from monitor.domain.states import AlertKind, DeadReason
from monitor.engine import telling
from monitor.engine.choose import Candidate
from monitor.engine.handler import InvalidPayloadError
from monitor.store import alerts, dead_letters, gates
from monitor.store.queue import Body
from monitor.store.sql import Cursor

# serialization failure, deadlock, lock timeout, server shutdown, no slots or memory: nobody's fault
_PASSING = ("40001", "40P01", "55P03", "57P01", "57P02", "57P03", "53", "08", "25P03")
_ERROR_CHARACTERS = 300
_LONGEST_SECONDS = 30 * 86_400.0  # what a handler may ask for by RetryLater
_AWAY_SECONDS = (1.0, 5.0)  # how long a session waits whose downstream is away


@dataclass(slots=True)
class Settled:
    """What a batch's failures left to do at its end: counters, alerts, and how many were away.

    dead: the messages that left the queue.
    """

    counters: list[tuple[str, str, float]] = field(default_factory=list)
    alerts: list[alerts.Alert] = field(default_factory=list)
    dead: set[int] = field(default_factory=set)
    away: int = 0
    away_error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failed run: of which message, for which consumer, by which error."""

    consumer: Consumer
    consumer_id: int
    pick: Candidate
    body: Body
    error: BaseException


def is_infrastructure(error: BaseException, used: psycopg.Connection[Any] | None = None) -> bool:
    """Whether the database, not the handler, failed: no attempt is counted then.

    used: the connection that Django held before the error; the end of its transaction may have put
    a new one in its place. The engine's own statements raise psycopg's errors, handlers Django's.
    """
    if not isinstance(error, DatabaseError | InterfaceError | psycopg.Error):
        return False
    return is_connection_lost(used) or _sqlstate(error).startswith(_PASSING)


def is_connection_lost(used: psycopg.Connection[Any] | None = None) -> bool:
    """Whether Django's connection is gone, closed by the handler or broken."""
    raw = used or connection.connection
    return raw is None or raw.closed or raw.info.status != ConnStatus.OK


def is_away(error: BaseException) -> bool:
    """Whether an error that came out of a drain says that the database is away.

    One without SQLSTATE (a connection that was cut or refused) cannot be a handler's here.
    """
    lost = OperationalError | InterfaceError | psycopg.OperationalError | psycopg.InterfaceError
    return is_infrastructure(error) or (isinstance(error, lost) and not _sqlstate(error))


def _sqlstate(error: BaseException) -> str:
    return getattr(error.__cause__ or error, "sqlstate", None) or ""


def settle(cursor: Cursor, failure: Failure, random: Random, into: Settled) -> None:
    """Record the failed attempt and decide: a retry behind its session's gate, or dead.

    Wants the lock of the message's lane and a transaction in which the handler's own writes are
    already rolled back.
    """
    if isinstance(failure.error, (DownstreamAway, *failure.consumer.retry.away)):
        _wait_for_downstream(cursor, failure, random, into)
        return
    attempts = failure.pick.failed_attempts + 1
    reason = _permanent(failure.error, failure.consumer)
    if reason is None and attempts >= failure.consumer.retry.limit:
        reason = DeadReason.POISON
    if reason is not None:
        die(cursor, failure, reason, into)
        return
    rendered = _rendered(failure)
    delay = _delay(failure, attempts, random)
    _note(cursor, failure, "failed", rendered, delay=delay)
    gates.fail(
        cursor,
        failure.pick.session,
        failure.pick.lane,
        head=failure.pick.id,
        attempts=attempts,
        delay_seconds=delay,
        error=f"{rendered.class_name}: {rendered.text}"[:_ERROR_CHARACTERS],
    )
    into.counters.append(("processed", "failed", 1.0))


def _wait_for_downstream(cursor: Cursor, failure: Failure, random: Random, into: Settled) -> None:
    """Not the message's fault: its session waits a little, and no attempt is counted."""
    rendered = _rendered(failure)
    delay = random.uniform(*_AWAY_SECONDS)
    _note(cursor, failure, "downstream away", rendered, delay=delay)
    text = f"{rendered.class_name}: {rendered.text}"[:_ERROR_CHARACTERS]
    gates.fail(
        cursor,
        failure.pick.session,
        failure.pick.lane,
        head=failure.pick.id,
        attempts=failure.pick.failed_attempts,
        delay_seconds=delay,
        error=text,
    )
    into.counters.append(("processed", "away", 1.0))
    into.away, into.away_error = into.away + 1, text


def die(cursor: Cursor, failure: Failure, reason: DeadReason, into: Settled) -> None:
    """Move the message to the dead letters; its session goes on, or is held, by policy.

    Same wants as settle. Raises MarkerError when the message was not in the queue any more.
    """
    pick, rendered = failure.pick, _rendered(failure)
    burial = dead_letters.Burial(
        id=pick.id,
        consumer=failure.consumer_id,
        lane=pick.lane,
        session=pick.session,
        reason=reason,
        error_class=rendered.class_name,
        error=rendered.text,
        cause=f"{reason}: {rendered.cause}",
        attempts=pick.failed_attempts + 1,
    )
    if not dead_letters.bury(cursor, burial):
        raise MarkerError(f"Message {pick.id} left the queue while its lane was locked.")
    _note(cursor, failure, "dead", rendered, reason=reason)
    gates.drop_retry(cursor, pick.session)
    into.dead.add(pick.id)
    into.counters += [("processed", "dead", 1.0), ("dead", reason, 1.0)]
    into.alerts.append(
        alerts.Alert(
            kind=AlertKind.DEAD_LETTER,
            consumer=failure.consumer_id,
            subject=burial.cause,
            title=f"{rendered.class_name}: {rendered.text}"[:_ERROR_CHARACTERS],
            target=pick.id,
        )
    )
    # A stale message is behind its session already: nothing waits for it.
    is_holding = failure.consumer.when_dead == "hold" and reason != DeadReason.STALE
    if is_holding and failure.body.session_key:
        _hold(cursor, failure, rendered, burial.cause, into)


def _hold(
    cursor: Cursor, failure: Failure, rendered: RenderedError, cause: str, into: Settled
) -> None:
    pick = failure.pick
    text = f"{rendered.class_name}: {rendered.text}"[:_ERROR_CHARACTERS]
    gates.hold_for_dead(cursor, pick.session, pick.lane, message=pick.id, error=text)
    into.alerts.append(
        alerts.Alert(
            kind=AlertKind.HELD_SESSION,
            consumer=failure.consumer_id,
            subject=str(pick.session),
            title=f"Session “{failure.body.session_key}” is held by its dead head {pick.id}",
            target=pick.session,
            cause=cause,
        )
    )


def _rendered(failure: Failure) -> RenderedError:
    return telling.told(failure.error, failure.consumer, failure.body)


def _permanent(error: BaseException, consumer: Consumer) -> DeadReason | None:
    if isinstance(error, InvalidPayloadError):
        return DeadReason.MALFORMED
    if isinstance(error, WrongSessionError):
        return DeadReason.WRONG_SESSION
    if isinstance(error, (DeadLetter, HandlerError, *consumer.retry.permanent)):
        return DeadReason.POISON
    return None


def _delay(failure: Failure, attempts: int, random: Random) -> float:
    retry = failure.consumer.retry
    if isinstance(failure.error, RetryLater):
        return min(max(failure.error.after_seconds, 0.0), _LONGEST_SECONDS)
    return delay_seconds(retry, attempts, random)


def _note(
    cursor: Cursor, failure: Failure, kind: str, rendered: RenderedError, **more: object
) -> None:
    dead_letters.note_failure(
        cursor,
        failure.pick.id,
        kind=kind,
        attempt=failure.pick.failed_attempts + 1,
        detail={
            "error_class": rendered.class_name,
            "error": rendered.text,
            "where": list(rendered.where),
            "own": list(rendered.own),
            **more,
        },
    )
