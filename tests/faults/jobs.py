"""What the processes of the fault tests do: work, take a request, renew leases."""

from __future__ import annotations

import json
import math
import mmap
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import time_machine
from django.db import close_old_connections

from monitor.engine import box, registry
from monitor.engine.life import Life
from monitor.sources import acceptance, receiver
from monitor.sources.amqp import Subscription
from monitor.store import connections
from monitor.worker.board import Board
from monitor.worker.renewal import Renewal
from tests import entrance
from tests.faults import world
from tests.monitor.sources.letters import amqp_source


def board_in(file: Path) -> Board:
    """A board that processes share which are not forked from one another."""
    made = Board()
    size = len(made._memory)
    if not file.exists():
        file.write_bytes(bytes(size))
    with file.open("r+b") as opened:
        made._memory = mmap.mmap(opened.fileno(), size)
    return made


def wake_up(board: Board | None = None) -> bool:
    """One wake-up as a worker's child takes it, in a process life of its own."""
    board = board or Board()
    signals = box.Signals(
        drains=lambda: board.drains(0),
        idles=lambda: board.idles(0),
        is_stopping=board.is_stopping,
    )
    life = Life("test", note=lambda *work: board.runs(0, *work))
    try:
        close_old_connections()  # as before each task
        return box.run(life, signals)
    finally:
        with suppress(psycopg.Error):
            life.end()


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One wake-up of a worker's child. Answers whether there may be more to do."""

    kind: str = "atomic"
    policy: tuple[tuple[str, Any], ...] = ()
    board: Path | None = None

    def __call__(self) -> bool:
        with world.consumer(self.kind, **dict(self.policy)):
            return wake_up(board_in(self.board) if self.board else None)


def _declared() -> AbstractContextManager[Any]:
    """The atomic consumer, also where the test itself declared it already."""
    is_known = any(each.source == world.SOURCE for each in registry.all_consumers())
    return nullcontext() if is_known else world.consumer("atomic")


@dataclass(frozen=True, slots=True)
class Post:
    """One request to the HTTP entrance. Answers its status."""

    key: str

    def __call__(self) -> int:
        with entrance.configured(test=entrance.PLAIN), _declared():
            return entrance.post("test", json.dumps(world.body(self.key)).encode()).status


@dataclass(frozen=True, slots=True, kw_only=True)
class Receive:
    """The receiver of a broker's queue, for ever."""

    queue: str
    url: str
    is_impatient: bool = False

    def __call__(self) -> None:
        os.environ["TEST_AMQP_URL"] = self.url
        if self.is_impatient:  # with its own limits, only sooner
            acceptance._DEADLINE_SECONDS = 1.0
            wanted_sql = receiver.SQL["session_settings"]
            shorter = wanted_sql.replace(
                "'idle_session_timeout', '30s'", "'idle_session_timeout', '2s'"
            )
            assert shorter != wanted_sql
            receiver.SQL["session_settings"] = shorter
        with world.consumer("atomic"):
            wanted = {"name": world.SOURCE, "queue": self.queue, "session": "header:x-session"}
            receiver.run(Subscription(amqp_source(**wanted)), Event())


@dataclass(frozen=True, slots=True)
class Renew:
    """What a worker's parent does for its children's leases. Answers how many are still held."""

    message_id: int
    fence: int
    seconds: float
    more: tuple[Renew, ...] = ()

    def beside(self, other: Renew) -> Renew:
        """Both in one go."""
        return replace(self, more=(*self.more, other))

    def __call__(self) -> int:
        board = Board()
        for index, each in enumerate((self, *self.more)):
            board.runs(index, each.message_id, 0.0, each.fence, each.seconds)
        renewing = Renewal(board, Event())
        # As if a third of each lease had gone by.
        renewing._renewed_at = {each.fence: -math.inf for each in (self, *self.more)}
        with connections.connect(autocommit=True) as own:
            return renewing.renew_due(own)


@dataclass(frozen=True, slots=True)
class Shifted:
    """A job whose process has a clock of its own, so many hours ahead."""

    job: Callable[[], Any]
    hours: int

    def __call__(self) -> Any:
        ahead = datetime.now(UTC) + timedelta(hours=self.hours)
        with time_machine.travel(ahead, tick=True):
            return self.job()
