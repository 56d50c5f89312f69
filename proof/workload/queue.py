"""Publishes to RabbitMQ with confirms, again and again until each message is confirmed."""

from __future__ import annotations

import time
from contextlib import suppress
from urllib.parse import urlsplit

import amqp
import orjson

from proof import history
from proof.workload.batches import Batch, Sent
from proof.workload.http import PATIENCE_SECONDS, NotAcceptedError
from proof.workload.plan import QUEUE

_CONNECT_SECONDS = 5
_CONFIRM_SECONDS = 10
_PAUSE_SECONDS = 0.2
_AWAY = (*amqp.Connection.connection_errors, *amqp.Connection.channel_errors, OSError)


class Line:
    """A connection with confirms, opened when it is needed."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._connection: amqp.Connection | None = None
        self._channel: amqp.Channel | None = None

    def publish(self, sent: Sent) -> None:
        """Publish one message and wait for the broker's word. Any of _AWAY: it is unknown."""
        item = sent.item
        body = orjson.dumps(item.changed if sent.is_changed else item.body)
        message = amqp.Message(
            body,
            content_type="application/json",
            delivery_mode=2,
            message_id=item.key,
            type=item.kind,
        )
        self._open().basic_publish_confirm(
            message, exchange="", routing_key=QUEUE, confirm_timeout=_CONFIRM_SECONDS
        )

    def declare(self) -> None:
        """The durable queue, if it is not there yet."""
        self._open().queue_declare(QUEUE, durable=True, auto_delete=False)

    def close(self) -> None:
        """Close the connection, whatever state it is in."""
        if self._connection is not None:
            with suppress(*_AWAY):
                self._connection.close()
        self._connection = self._channel = None

    def _open(self) -> amqp.Channel:
        if self._channel is None:
            self._connection = amqp.Connection(
                host=f"{self._parts.hostname}:{self._parts.port}",
                userid=self._parts.username or "guest",
                password=self._parts.password or "guest",
                connect_timeout=_CONNECT_SECONDS,
                read_timeout=_CONFIRM_SECONDS,
                confirm_publish=True,
            )
            self._connection.connect()
            self._channel = self._connection.channel()
        return self._channel


class Publisher:
    """Two connections to the broker: the second one carries the twins."""

    def __init__(self, url: str, sender: int) -> None:
        self._lines = (Line(url), Line(url))
        self._sender = sender

    def send(self, batch: Batch) -> None:
        """Publish until everything is confirmed. NotAcceptedError when the broker stays away."""
        twins = {each.item.n: each for each in batch.twins}
        for sent in batch.deliveries:
            self._deliver(self._lines[0], sent)
            twin = None if sent.is_changed else twins.pop(sent.item.n, None)
            if twin is not None:
                self._deliver(self._lines[1], twin)

    def close(self) -> None:
        """Close both connections."""
        for line in self._lines:
            line.close()

    def _deliver(self, line: Line, sent: Sent) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                line.publish(sent)
            except _AWAY:
                self._say("unknown", sent)
                line.close()
            else:
                self._say("acked", sent, words="m" if sent.is_changed else "c")
                return
            if time.monotonic() > deadline:
                raise NotAcceptedError(f"Sender {self._sender}: the broker takes nothing.")
            time.sleep(_PAUSE_SECONDS)

    def _say(self, what: str, sent: Sent, **more: object) -> None:
        history.write(what, sender=self._sender, n=[sent.item.n], **more)


def declare(url: str) -> None:
    """Make the durable queue that the senders publish to. Any error of the broker comes out."""
    line = Line(url)
    try:
        line.declare()
    finally:
        line.close()
