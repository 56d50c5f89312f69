"""Senders of a scene: forked processes that hand their batches to the product's own ingest."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from functools import partial

import orjson
import psycopg
from django.db import DatabaseError, InterfaceError, connection

from monitor.domain.message import Delivery
from monitor.engine import ingest
from proof import history
from proof.mutants.floor import Floor, fork, wait
from proof.workload.batches import Sent, batches
from proof.workload.plan import Item, Plan

_WORDS = {"new": "n", "duplicate": "d", "mismatch": "m"}
_TRIES = 200
_PAUSE_SECONDS = 0.02
_MOST_SECONDS = 40.0
Shape = Callable[[Delivery, Item], Delivery]  # what a scene adds to a delivery


def _as_it_is(delivery: Delivery, _item: Item) -> Delivery:
    return delivery


class SendingError(Exception):
    """A sender could not get rid of its messages."""


def send(floor: Floor, *, pause: float = 0.0, shape: Shape = _as_it_is) -> None:
    """Send all of the plan, each sender in two processes of its own; returns when all is told."""
    for pid in begin(floor, pause=pause, shape=shape):
        if wait(pid, _MOST_SECONDS) != 0:
            raise SendingError("A sender gave up.")


def begin(floor: Floor, *, pause: float = 0.0, shape: Shape = _as_it_is) -> list[int]:
    """The same without waiting: the processes."""
    started = []
    for sender in range(floor.scene.profile.senders):
        one, other = socket.socketpair()
        for line, is_twin in ((one, False), (other, True)):
            job = partial(
                _send, floor.plan, sender, line, is_twin=is_twin, pause=pause, shape=shape
            )
            started.append(fork(job))
        one.close()
        other.close()
    return started


def deliver(sent: Sequence[Sent], sender: int, shape: Shape = _as_it_is) -> None:
    """Send until it is accepted, and note what was told."""
    numbers = [each.item.n for each in sent]
    deliveries = [delivery(each, shape) for each in sent]
    for _ in range(_TRIES):
        try:
            receipts = ingest.receive(deliveries)
        except (DatabaseError, InterfaceError, psycopg.Error) as error:
            connection.close()
            history.write("unknown", sender=sender, n=numbers, error=str(error)[:200])
            time.sleep(_PAUSE_SECONDS)
            continue
        told = [each for (each,) in receipts]
        words = "".join(_WORDS[str(each.verdict)] for each in told)
        ids = [each.message_id for each in told]
        history.write("acked", sender=sender, n=numbers, ids=ids, words=words)
        return
    raise SendingError(f"Sender {sender}: {len(sent)} messages were never accepted.")


def delivery(sent: Sent, shape: Shape = _as_it_is) -> Delivery:
    """The delivery of a message."""
    item = sent.item
    plain = Delivery(
        source=item.source,
        origin="/proof",
        key=item.key,
        type=item.kind,
        payload=orjson.dumps(item.changed if sent.is_changed else item.body),
    )
    return shape(plain, item)


def _send(
    plan: Plan,
    sender: int,
    line: socket.socket,
    *,
    is_twin: bool,
    pause: float,
    shape: Shape,
) -> None:
    for batch in batches(plan, sender):
        part = batch.twins if is_twin else batch.deliveries
        if batch.twins:
            _meet(line)
        if part:
            deliver(part, sender, shape)
        if not is_twin:
            time.sleep(pause)


def _meet(line: socket.socket) -> None:
    """Both go on at the same moment."""
    line.sendall(b".")
    line.recv(1)
