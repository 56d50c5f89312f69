"""Receives foreign messages from one RabbitMQ queue, on a connection of its own."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import amqp
from amqp.method_framing import frame_handler
from kombu.connection import Connection

from monitor.domain.errors import ConfigurationError
from monitor.domain.message import Delivery
from monitor.domain.settings import AmqpSource
from monitor.sources.amqp_delivery import Letter, Mapper
from monitor.sources.base import SourceAwayError
from monitor.store import connections

_CONNECT_SECONDS = 5
_HEARTBEAT_SECONDS = 15
_IDLE_SECONDS = 0.5
_BATCH_BYTES = 16 * 1024 * 1024
_NO_PROPERTIES = b"\x00\x00"
_HEADER_FRAME, _HEADER_START = 2, 12

_AWAY = (*amqp.Connection.connection_errors, *amqp.Connection.channel_errors, OSError)
# What py-amqp raises for a property or a header that it cannot decode.
_UNREADABLE = (
    ValueError,
    ArithmeticError,
    LookupError,
    struct.error,
    amqp.exceptions.FrameSyntaxError,
)


class Subscription:
    """One queue as a Source. The queue is never declared: it belongs to its sender."""

    def __init__(self, settings: AmqpSource) -> None:
        """Raises ConfigurationError for a wrong field or a missing address; connects to nothing."""
        self._settings = settings
        self._mapper = Mapper(settings)
        self._url = _address(settings)
        self._connection: Connection | None = None
        self._channel: Any = None
        self._arrived: list[Any] = []
        self._last_tag = 0

    @property
    def name(self) -> str:
        """Name of the source, as configured."""
        return self._settings.name

    @property
    def ignores_unrouted(self) -> bool:
        """Whether a message that no consumer takes is only counted."""
        return self._settings.unrouted == "ignore"

    def open(self) -> None:
        """Connect and subscribe. SourceAwayError also while another consumer is on the queue."""
        self.close()
        self._connection = Connection(
            self._url,
            connect_timeout=_CONNECT_SECONDS,
            heartbeat=_HEARTBEAT_SECONDS,
            transport_options={"frame_handler": tolerant_frames},
        )
        with self._told():
            self._connection.connect()
            connections.keep_from_children(self._connection.connection.transport.sock)
            self._subscribe()

    def receive(self) -> Sequence[Delivery]:
        """The next batch: full, or what came within batch_milliseconds of its first message."""
        with self._told():
            self._wait(_IDLE_SECONDS)
            end = time.monotonic() + self._settings.batch_milliseconds / 1000
            size = sum(len(each.body) for each in self._arrived)
            while 0 < len(self._arrived) < self._settings.batch_size and size < _BATCH_BYTES:
                left = end - time.monotonic()
                if left <= 0 or not self._wait(left):
                    break
                size += len(self._arrived[-1].body)
            self._open_connection().heartbeat_check()
        batch, self._arrived = self._arrived, []
        if batch:
            self._last_tag = batch[-1].delivery_info["delivery_tag"]
        return [self._mapper.deliver(letter(each)) for each in batch]

    def acknowledge(self) -> None:
        """One acknowledgement for everything received so far. Only after its commit."""
        with self._told():
            self._channel.basic_ack(self._last_tag, multiple=True)

    def close(self) -> None:
        """Drop the connection; the broker puts back what was not acknowledged, in order."""
        connection, self._connection, self._channel = self._connection, None, None
        self._arrived = []
        if connection is None:
            return
        # Whatever is wrong with a connection that we leave is of no interest, and must not hold us.
        with suppress(Exception):
            connection.connection.transport.sock.settimeout(1.0)
            connection.close()
        with suppress(Exception):
            connection.collect()

    def _subscribe(self) -> None:
        """Consume as the queue's only consumer: a second fence, held at the broker.

        If this receiver loses its lock in the database without noticing, its successor is refused
        here until the messages of this one are back in the queue, so their order stays.
        """
        try:
            self._consume(exclusive=True)
        except amqp.AccessRefused as error:
            # A queue with a single active consumer knows that fence by itself and refuses ours.
            self._channel = self._open_connection().channel()
            declared = self._channel.queue_declare(self._settings.queue, passive=True)
            if declared.consumer_count:
                raise SourceAwayError(
                    f"another consumer is on the queue {self._settings.queue}; it would break order"
                ) from error
            self._consume(exclusive=False)

    def _consume(self, *, exclusive: bool) -> None:
        self._channel = self._open_connection().channel()
        self._channel.basic_qos(0, self._settings.prefetch, False)
        self._channel.basic_consume(
            self._settings.queue, exclusive=exclusive, callback=self._on_message
        )

    def _on_message(self, message: Any) -> None:
        self._arrived.append(message)

    def _wait(self, seconds: float) -> bool:
        """Whether a message came; other frames (heartbeats, answers) count as nothing."""
        before = len(self._arrived)
        with suppress(TimeoutError):
            self._open_connection().drain_events(timeout=max(seconds, 0.001))
        return len(self._arrived) > before

    def _open_connection(self) -> Connection:
        if self._connection is None:
            raise SourceAwayError("the connection is closed")
        return self._connection

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except _AWAY as error:
            raise SourceAwayError(f"{type(error).__name__}: {error}") from error


def letter(message: Any) -> Letter:
    """The plain value of a message of py-amqp."""
    properties = dict(message.properties)
    headers = properties.pop("application_headers", None) or {}
    return Letter(
        body=bytes(message.body),
        properties=properties,
        headers=headers,
        routing_key=message.delivery_info["routing_key"],
        exchange=message.delivery_info["exchange"],
        redelivered=bool(message.delivery_info["redelivered"]),
        unreadable=getattr(message, "unreadable", ""),
    )


def tolerant_frames(connection: Any, callback: Callable[..., Any]) -> Callable[[Any], Any]:
    """py-amqp's reader of frames, but a header that it cannot decode costs only that header.

    As it is, a property that is not UTF-8 ends the connection: the broker sends the message again,
    and one such message would block its queue for ever.
    """
    faults: dict[int, str] = {}

    def on_message(channel: int, method: Any, arguments: Any, content: Any) -> Any:
        fault = faults.pop(channel, "") if content is not None else ""
        if fault:
            content.unreadable = fault
        return callback(channel, method, arguments, content)

    read = frame_handler(connection, on_message)

    def on_frame(frame: Any) -> Any:
        try:
            return read(frame)
        except _UNREADABLE as error:
            kind, channel, buffer = frame
            if kind != _HEADER_FRAME:
                raise
            faults[channel] = f"The headers of the message cannot be read: {error}."
            # The same frame with an empty list of properties; the body follows as announced.
            return read((kind, channel, bytes(buffer[:_HEADER_START]) + _NO_PROPERTIES))

    return on_frame


def _address(settings: AmqpSource) -> str:
    url = os.environ.get(settings.url_env, "")
    if not url.startswith(("amqp://", "amqps://")):
        raise ConfigurationError(
            f"sources.{settings.name}.url_env: the environment variable {settings.url_env} must "
            "hold the address of the broker (amqp://user:password@host/vhost)."
        )
    return url
