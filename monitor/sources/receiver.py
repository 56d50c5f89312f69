"""Receives from one broker source for ever: lock, read a batch, store it, commit, acknowledge."""

from __future__ import annotations

import time
from random import Random
from threading import Event, Thread

import psycopg
import structlog
from django.conf import settings

from monitor.domain.errors import ConfigurationError
from monitor.domain.retry import Retry, delay_seconds
from monitor.domain.settings import AmqpSource, Settings
from monitor.sources.acceptance import Acceptance
from monitor.sources.amqp import Subscription
from monitor.sources.base import Source, SourceAwayError
from monitor.sources.health import Health
from monitor.store import connections, sql

SQL = sql.load(__file__)

_STANDBY_SECONDS = 0.5  # between two tries for the lock
_PULSE_SECONDS = 5.0  # between two looks whether an idle connection lives
_SHORTEST_WAIT_SECONDS = 0.1
_BACKOFF = Retry(base_seconds=0.4, cap_seconds=4.0)

log = structlog.get_logger(__name__)


def run(source: Source, stop: Event, health: Health | None = None) -> None:
    """Receive until stop is set; returns within about a second of it.

    Any number may run for one source: one receives, the others stand by and take over when its
    database connection ends. Database or broker away: nothing is acknowledged, and it tries again
    after a growing wait. Opens its own connections only, so the caller's thread may fork.
    """
    Receiver(source, stop, health or Health(source=source.name)).run()


def threads(configured: Settings, stop: Event) -> list[Thread]:
    """One thread, not yet started, for each broker source that workers host (hosted = true).

    Raises ConfigurationError for a source with a wrong field or a missing address.
    """
    found = []
    for each in configured.sources.values():
        if isinstance(each, AmqpSource) and each.hosted:
            target, name = Subscription(each), f"receiver {each.name}"
            found.append(Thread(target=run, args=(target, stop), name=name, daemon=True))
    return found


def named(configured: Settings, name: str) -> Source:
    """The broker source of that name. Raises ConfigurationError naming the known ones."""
    known = {
        each.name: each for each in configured.sources.values() if isinstance(each, AmqpSource)
    }
    if name not in known:
        listed = ", ".join(sorted(known)) or "none is configured"
        raise ConfigurationError(f"No broker source is called {name!r}; known: {listed}.")
    return Subscription(known[name])


class Receiver:
    """One life after another: a database connection with the lock, and one to the broker."""

    def __init__(self, source: Source, stop: Event, health: Health) -> None:
        self._source = source
        self._stop = stop
        self._health = health
        self._failures = 0
        self._random = Random()  # noqa: S311 - only spreads the waits

    def run(self) -> None:
        """Live until stopped; whatever ends a life, the next one begins after a wait."""
        while not self._stop.is_set():
            try:
                self._live()
            except SourceAwayError as error:
                self._wait("broker away", error)
            except psycopg.Error as error:
                self._wait("database away", error)
            except ConfigurationError as error:
                self._wait("refused", error)
            except Exception as error:
                log.exception("receiver_failed", source=self._source.name)
                self._wait("failed", error)
        self._health.became("stopped")

    def _live(self) -> None:
        connection = connections.connect(
            autocommit=True, application_name=f"comboio receiver {self._source.name}"[:63]
        )
        try:
            _prepare(connection)
            if self._became_active(connection):
                self._source.open()
                self._health.became("receiving")
                self._receive(connection)
        finally:
            # The broker first: its messages are back in the queue before a successor gets the lock.
            self._source.close()
            connections.discard(connection)

    def _became_active(self, connection: connections.Connection) -> bool:
        while not self._stop.is_set():
            row = connection.execute(SQL["become_active"], {"source": self._source.name}).fetchone()
            if row and row[0]:
                return True
            self._health.became("standing by")
            self._failures = 0
            self._stop.wait(_STANDBY_SECONDS)
        return False

    def _receive(self, connection: connections.Connection) -> None:
        acceptance = Acceptance(connection, self._source, self._health)
        pulse = time.monotonic()
        while not self._stop.is_set():
            deliveries = self._source.receive()
            if deliveries:
                acceptance.store(deliveries)
                self._source.acknowledge()
                self._health.acknowledged(len(deliveries))
                self._failures = 0
                pulse = time.monotonic()
            elif time.monotonic() - pulse > _PULSE_SECONDS:
                connection.execute(SQL["still_there"])
                self._health.tell()
                self._failures = 0
                pulse = time.monotonic()

    def _wait(self, state: str, error: Exception) -> None:
        self._failures += 1
        self._health.became(state, error)
        seconds = delay_seconds(_BACKOFF, self._failures, self._random)
        self._stop.wait(max(seconds, _SHORTEST_WAIT_SECONDS))


def _prepare(connection: connections.Connection) -> None:
    row = connection.execute(SQL["session_settings"]).fetchone()
    environment = getattr(settings, "ENVIRONMENT", None)
    if row and row[0] != "on" and not getattr(environment, "admits_unsafe_database", False):
        raise ConfigurationError(
            "The database runs with fsync off: what was acknowledged could be lost. Turn it on."
        )
