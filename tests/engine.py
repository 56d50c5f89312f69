"""Drives the real engine in tests: consumers of a test's own, deliveries, draining."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from monitor.domain.consumer import Consumer
from monitor.domain.message import Delivery, Receipt
from monitor.domain.retry import Retry
from monitor.engine import directory, ingest, registry
from monitor.engine.drain import drain
from monitor.engine.life import Life
from monitor.store import connections
from tests.rows import one
from tests.waiting import wait_until

QUICK = Retry(limit=3, base_seconds=0.001, cap_seconds=0.001)


@contextmanager
def consuming(
    handler: Callable[..., Any], *, name: str = "test.apply", source: str = "test", **policy: Any
) -> Iterator[Consumer]:
    """A consumer of this test's own, gone afterwards. The handler takes (payload, message)."""
    declared = Consumer(
        name=name, source=source, handler=handler, wants_message=True, **{"retry": QUICK, **policy}
    )
    registry.add(declared)
    directory.forget()
    try:
        yield declared
    finally:
        registry.remove(name)
        directory.forget()


def delivery(key: str, body: Any = None, **more: Any) -> Delivery:
    """A delivery of the source "test" with a JSON body."""
    values = {"source": "test", "origin": "test", "type": "test", **more}
    return Delivery(key=key, payload=orjson.dumps({"n": 1} if body is None else body), **values)


def send(*deliveries: Delivery) -> list[list[Receipt]]:
    """Ingest these in one batch and commit."""
    return ingest.receive(deliveries)


def drain_all(seconds: float = 20.0) -> int:
    """Run whatever may run now, as one worker process life; how many messages moved."""
    life = Life("test")
    try:
        return drain(life, seconds)
    finally:
        life.end()


def die_with(*ids: int) -> None:
    """A worker life that announced these messages and was killed: nothing is withdrawn."""
    life = Life("other")
    life.announce(ids)
    own = life._connection()
    pid = own.info.backend_pid
    connections.discard(own)
    there = "SELECT count(*) FROM pg_stat_activity WHERE pid = %(pid)s"
    wait_until(lambda: not one(there, pid=pid))
