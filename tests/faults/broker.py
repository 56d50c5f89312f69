"""The broker's side of the fault tests: a queue, the link to it, and receivers on that link."""

from __future__ import annotations

import json

from tests.faults import world
from tests.faults.child import Strike
from tests.faults.injectors import Actor, Stage
from tests.faults.jobs import Receive
from tests.faults.proxy import Proxy
from tests.monitor.sources.receivers import about
from tests.rabbitmq import Queue
from tests.rows import one
from tests.waiting import wait_until

ACCEPTED = "monitor.engine.ingest:accept"
ACKNOWLEDGE = "monitor.sources.amqp:Subscription.acknowledge"
RECEIVED = "monitor.sources.amqp:Subscription.receive"


def put(queue: Queue, *keys: str) -> None:
    """Publish one message for each key."""
    for key in keys:
        queue.put(json.dumps(world.body(key)), about(key, f"session of {key}"))


def receiving(
    stage: Stage,
    queue: Queue,
    *strikes: Strike,
    database: Proxy | None = None,
    is_impatient: bool = False,
    **session: str,
) -> tuple[Actor, Proxy]:
    """A receiver of the queue in a process of its own, and its link to the broker."""
    link = stage.link_to(queue.node.port)
    url = f"amqp://guest:guest@127.0.0.1:{link.port}//"
    job = Receive(queue=queue.name, url=url, is_impatient=is_impatient)
    return stage.start(job, *strikes, link=database, **session), link


def wait_subscribed(queue: Queue) -> None:
    """Until a receiver is on the queue."""
    wait_until(lambda: queue.consumers() == 1, 30, what="a receiver on the queue")


def wait_stored(count: int = 1, *, duplicates: int = 0) -> None:
    """Until so many messages are stored, and so many of their copies counted."""

    def is_stored() -> bool:
        found = one("SELECT count(*) FROM comboio_message")
        copies = one("SELECT coalesce(sum(duplicates), 0) FROM comboio_dedup")
        return bool(found >= count and copies >= duplicates)

    wait_until(is_stored, 30, what="the message in the inbox")


def wait_empty(queue: Queue) -> None:
    """Until everything on the queue is acknowledged."""
    wait_until(lambda: queue.left() == 0, 30, what="an empty queue")
