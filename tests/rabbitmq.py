"""A RabbitMQ node of the tests' own: started lazily once, on loopback, stopped by its pid."""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import pika
import pytest

from tests import needs
from tests.waiting import wait_until

SCRIPTS = Path("/usr/lib/rabbitmq/bin")
START_SECONDS = 90.0
STOP_SECONDS = 15.0
_PR_SET_PDEATHSIG = 1

logging.getLogger("pika").setLevel(logging.CRITICAL)  # it tells each step of each connection


@dataclass(slots=True, kw_only=True)
class Node:
    """A running node; queues made through it belong to the test."""

    name: str
    port: int
    environment: dict[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def connect(self) -> pika.BlockingConnection:
        """A connection of the foreign client."""
        parameters = pika.ConnectionParameters("127.0.0.1", self.port, heartbeat=0)
        return pika.BlockingConnection(parameters)

    def close_all_connections(self) -> None:
        """Cut every client off, as an operator of the broker would."""
        self.control("close_all_connections", "forced by a test")

    def control(self, *words: str) -> str:
        """Run rabbitmqctl on this node and return what it printed."""
        command = [str(SCRIPTS / "rabbitmqctl"), "-n", self.name, "-q", *words]
        return subprocess.run(
            command, env=self.environment, check=True, capture_output=True, text=True, timeout=60
        ).stdout


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
    if not (SCRIPTS / "rabbitmq-server").exists() or shutil.which("epmd") is None:
        needs.missing("RabbitMQ is not installed (apt-get install rabbitmq-server)")
    folder = Path(tempfile.mkdtemp(prefix="comboio-rabbitmq-"))
    node = _prepare(folder)
    try:
        _start(node, folder)
        yield node
    finally:
        _stop(node)
        shutil.rmtree(folder, ignore_errors=True)


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


def _prepare(folder: Path) -> Node:
    port, dist, epmd = _free_ports(3)
    (folder / "plugins").write_text("[].\n")
    (folder / "rabbitmq.conf").write_text(
        f"listeners.tcp.default = 127.0.0.1:{port}\nlog.file.level = warning\n"
        "disk_free_limit.absolute = 50MB\n"
    )
    name = f"comboio-{os.getpid()}@localhost"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "ERL_EPMD_PORT": str(epmd),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none"),
        "RABBITMQ_NODENAME": name,
        "RABBITMQ_DIST_PORT": str(dist),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        # "allow input" makes the script exec the server instead of watching it: one pid, ours.
        "RABBITMQ_ALLOW_INPUT": "1",
        "RABBITMQ_SERVER_START_ARGS": "-noinput",
    }
    return Node(name=name, port=port, environment=environment)


def _start(node: Node, folder: Path) -> None:
    # Our own name daemon in the foreground, so that the server starts none that outlives it.
    node.processes.append(_spawn(["epmd"], node, folder))
    wait_until(lambda: _listens(int(node.environment["ERL_EPMD_PORT"])), what="epmd")
    node.processes.append(_spawn([str(SCRIPTS / "rabbitmq-server")], node, folder))

    def ready() -> bool:
        if node.processes[-1].poll() is not None:
            pytest.fail(f"RabbitMQ ended: {(folder / 'output').read_text()[-2000:]}")
        return _listens(node.port)

    wait_until(ready, START_SECONDS, what="RabbitMQ's port")


def _spawn(command: list[str], node: Node, folder: Path) -> subprocess.Popen[bytes]:
    with (folder / "output").open("ab") as output:
        return subprocess.Popen(
            command,
            env=node.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - only sets a flag of the kernel
        )


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _stop(node: Node) -> None:
    for process in reversed(node.processes):
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_SECONDS)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
