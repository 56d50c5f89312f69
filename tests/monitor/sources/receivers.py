"""Runs receivers for tests, as a thread or as a process that can be killed, and reads what came."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pika
import pytest
from django.db import connection

from monitor.sources import receiver
from monitor.sources.amqp import Subscription
from monitor.sources.health import Health
from tests.monitor.sources.letters import amqp_source
from tests.rabbitmq import Queue

STOP_SECONDS = 5.0  # the promise is one; a busy machine gets more


@contextmanager
def receiving(queue: Queue, /, **settings: Any) -> Iterator[Health]:
    """A receiver of the queue in a thread of its own, stopped at the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_AMQP_URL", queue.node.url)
        wanted = {"name": "inbound", "queue": queue.name, **settings}
        subscription = Subscription(amqp_source(**wanted))
    stop, health = Event(), Health(source="inbound")
    thread = Thread(target=receiver.run, args=(subscription, stop, health), daemon=True)
    thread.start()
    try:
        yield health
    finally:
        stop.set()
        thread.join(STOP_SECONDS)
        assert not thread.is_alive(), "the receiver did not stop"


class Process:
    """`receive` as its own process on the test database."""

    def __init__(self, queue: Queue, folder: Path, database_url: str) -> None:
        config = folder / "comboio.toml"
        config.write_text(
            f'[sources.inbound]\nkind = "amqp"\nurl_env = "TEST_AMQP_URL"\nqueue = "{queue.name}"\n'
            'session = "header:x-session"\nbatch_size = 50\n'
        )
        self._output = (folder / "receive.log").open("ab")
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "django", "receive", "inbound"],
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "tests.settings",
                "DATABASE_URL": database_url,
                "COMBOIO_CONFIG": str(config),
                "TEST_AMQP_URL": queue.node.url,
            },
            stdout=self._output,
            stderr=self._output,
        )

    def kill(self) -> None:
        """SIGKILL, as a crash would."""
        self._popen.kill()
        self._popen.wait(STOP_SECONDS)

    def stop(self) -> int:
        """SIGTERM; its exit status."""
        self._popen.send_signal(signal.SIGTERM)
        return self._popen.wait(STOP_SECONDS)

    def close(self) -> None:
        """Leave nothing running, whatever the test did."""
        if self._popen.poll() is None:
            self.kill()
        self._output.close()


def about(key: str, session: str = "", **properties: Any) -> pika.BasicProperties:
    """The properties of a foreign message."""
    headers = {"x-session": session} if session else {}
    return pika.BasicProperties(message_id=key, headers=headers, delivery_mode=2, **properties)


def stored(where: str = "true") -> list[tuple[Any, ...]]:
    """(key, payload) of every accepted message in the order of its arrival."""
    return rows(
        f"SELECT key, convert_from(payload, 'UTF8') FROM comboio_message WHERE {where} ORDER BY id"
    )


def rows(query: str) -> list[tuple[Any, ...]]:
    """What a query finds."""
    with connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def count(query: str) -> int:
    """The one number that a query finds."""
    return int(rows(query)[0][0])
