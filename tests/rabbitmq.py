"""A RabbitMQ node of the tests' own: started lazily once, on loopback, stopped by its pid."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pika
import pytest

from proof.world import rabbitmq as world
from tests import needs

logging.getLogger("pika").setLevel(logging.CRITICAL)  # it tells each step of each connection


class Node(world.Node):
    """A running node; queues made through it belong to the test."""

    def connect(self) -> pika.BlockingConnection:
        """A connection of the foreign client."""
        parameters = pika.ConnectionParameters("127.0.0.1", self.port, heartbeat=0)
        return pika.BlockingConnection(parameters)

    def close_all_connections(self) -> None:
        """Cut every client off, as an operator of the broker would."""
        self.control("close_all_connections", "forced by a test")


@dataclass(slots=True, kw_only=True)
class Queue:
    """One durable queue of one test, seen by the foreign client."""

    node: Node
    name: str
    connection: pika.BlockingConnection
    channel: pika.adapters.blocking_connection.BlockingChannel

    def put(self, body: bytes | str, properties: pika.BasicProperties | None = None) -> None:
        """Publish one message to the queue."""
        raw = body.encode() if isinstance(body, str) else body
        self.channel.basic_publish("", self.name, raw, properties)

    def depth(self) -> int:
        """Messages ready in the queue (without those a receiver holds)."""
        return int(self._declared().method.message_count)

    def consumers(self) -> int:
        """How many receivers the broker knows on this queue."""
        return int(self._declared().method.consumer_count)

    def left(self) -> int:
        """All messages the broker still has, the unacknowledged ones too. Slow: a command line."""
        for line in self.node.control("list_queues", "name", "messages").splitlines():
            name, _, count = line.partition("\t")
            if name == self.name:
                return int(count)
        raise LookupError(self.name)

    def _declared(self) -> pika.frame.Method:
        return self.channel.queue_declare(self.name, passive=True)


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[Node]:
    """The node of this test run; skipped with the reason where RabbitMQ is not installed."""
    if not Node.is_available():
        needs.missing(world.NOT_INSTALLED)
    node = Node(Path(tempfile.mkdtemp(prefix="comboio-rabbitmq-")))
    try:
        yield node.start()
    finally:
        node.stop()


@pytest.fixture
def queue(rabbitmq: Node) -> Iterator[Queue]:
    """A fresh durable queue with a name of its own, deleted afterwards."""
    connection = rabbitmq.connect()
    channel = connection.channel()
    name = f"comboio.test.{uuid4().hex[:8]}"
    channel.queue_declare(name, durable=True)
    yield Queue(node=rabbitmq, name=name, connection=connection, channel=channel)
    with suppress(pika.exceptions.AMQPError):  # A test may have cut it off.
        connection.close()
    with rabbitmq.connect() as again:
        again.channel().queue_delete(name)
