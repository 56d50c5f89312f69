"""Runs one handler on one message inside the open transaction, and checks what it left behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

import orjson
from django.db import connection
from psycopg.pq import TransactionStatus

from monitor.domain import payload as payloads
from monitor.domain.consumer import Consumer
from monitor.domain.errors import (
    ComboioError,
    EndedTransactionError,
    HandlerError,
    RejectedDeliveryError,
    WrongSessionError,
)
from monitor.domain.fingerprint import is_json, parse_json
from monitor.domain.message import Message
from monitor.store.queue import Body

AnyMessage = TypeVar("AnyMessage", bound=Message)


class HandlerTimeoutError(ComboioError):
    """The handler ran longer than its consumer's timeout_seconds; counts as a failed attempt."""


class InvalidPayloadError(ComboioError):
    """The body does not fit the handler's payload type: the same bytes can never succeed."""


class SwallowedErrorError(ComboioError):
    """The handler caught a database error and returned: its writes are gone, so it failed."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A handler that went through: its result as JSON text (None: nothing) and its time."""

    result: str | None
    milliseconds: float


def run(consumer: Consumer, body: Body, attempt: int) -> Ran:
    """Call the handler; whatever it raises comes out. Wants the transaction of its effects open.

    Raises HandlerError when the handler ended that transaction or returned what JSON cannot hold,
    SwallowedErrorError when it hid a database error, HandlerTimeoutError when it took too long.
    """
    value = payload_of(consumer, body)
    started = perf_counter()
    with _time_limit(consumer):
        check_session(consumer, value, body)
        if consumer.wants_message:
            result = consumer.handler(value, message_of(Message, consumer, body, attempt))
        else:
            result = consumer.handler(value)
    milliseconds = (perf_counter() - started) * 1000.0
    check_transaction(consumer)
    return Ran(result_text(consumer, result), milliseconds)


def payload_of(consumer: Consumer, body: Body) -> Any:
    """The body read into the handler's payload type. Raises InvalidPayloadError."""
    if not is_json(body.content_type):
        if consumer.payload is not None:
            raise InvalidPayloadError(
                f"The body is “{body.content_type}”; {consumer.name} wants JSON."
            )
        return body.payload
    try:
        value = parse_json(body.payload)
        return value if consumer.payload is None else payloads.read(consumer.payload, value)
    except (RejectedDeliveryError, payloads.PayloadError) as error:
        raise InvalidPayloadError(str(error)) from error


def check_session(consumer: Consumer, value: Any, body: Body) -> None:
    """Raise WrongSessionError when the consumer's own check says that this is another session's."""
    check = consumer.check_session
    if check is not None and body.session_key and not check(value, body.session_key):
        raise WrongSessionError(
            f"check_session of {consumer.name} says that this message does not belong to the "
            f"session “{body.session_key}”."
        )


def message_of(
    kind: Callable[..., AnyMessage], consumer: Consumer, body: Body, attempt: int, **more: Any
) -> AnyMessage:
    """What a handler sees of a stored message, as a Message or a kind of it with more."""
    return kind(
        id=body.id,
        consumer=consumer.name,
        source=body.source,
        origin=body.origin,
        key=body.key,
        type=body.type,
        session=body.session_key or "",
        sequence=body.sequence,
        revision=body.revision,
        attempt=attempt,
        content_type=body.content_type,
        payload=body.payload,
        headers=body.header_values(),
        received_at=body.received_at,
        correlation_id=body.correlation_id,
        traceparent=body.traceparent,
        **more,
    )


@contextmanager
def _time_limit(consumer: Consumer) -> Iterator[None]:
    # Signals reach the main thread only; elsewhere the worker's parent is the only limit.
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    if signal.getsignal(signal.SIGALRM) is not _time_is_up:
        signal.signal(signal.SIGALRM, _time_is_up)
    signal.setitimer(signal.ITIMER_REAL, consumer.timeout_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _time_is_up(_signal: int, _frame: object) -> None:
    raise HandlerTimeoutError("The handler ran longer than its consumer's timeout_seconds.")


def check_transaction(consumer: Consumer) -> None:
    """Raise unless the transaction that the handler was given is still open and sound."""
    raw = connection.connection
    status = None if raw is None else raw.info.transaction_status
    if connection.needs_rollback or status == TransactionStatus.INERROR:
        raise SwallowedErrorError(
            f"{consumer.name} caught a database error and returned as if nothing had happened. "
            "Wrap the statement in transaction.atomic() if its failure is expected."
        )
    if status == TransactionStatus.IDLE:
        raise EndedTransactionError(
            f"{consumer.name} ended the transaction that it was given (COMMIT or ROLLBACK). "
            "Its effects must be committed by the engine, together with the message."
        )


def result_text(consumer: Consumer, result: Any) -> str | None:
    """A handler's result as JSON text. Raises HandlerError when JSON cannot hold it."""
    if result is None:
        return None
    try:
        return orjson.dumps(result).decode().replace("\\u0000", "\\\\u0000")
    except TypeError as error:
        raise HandlerError(
            f"{consumer.name} returned what JSON cannot hold ({error}); return plain values."
        ) from error
