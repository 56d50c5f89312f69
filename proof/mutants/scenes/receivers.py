"""A receiver of a broker that is killed again and again while it stores."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from threading import Event

from monitor.domain.message import Delivery
from monitor.sources import receiver
from proof import history
from proof.mutants import sending
from proof.mutants.floor import Floor, fork, wait
from proof.mutants.mutant import Scene, without
from proof.profiles import Profile
from proof.workload.batches import Sent
from proof.workload.plan import QUEUE, Plan

_BATCH = 6
_KILLS = 14
_SECONDS = 20.0
_LOOK_SECONDS = 0.005


class _Broker:
    """A queue that remembers in a file how far it was acknowledged; the rest comes again."""

    name = QUEUE
    ignores_unrouted = False

    def __init__(self, plan: Plan, place: Path) -> None:
        self._plan = plan
        self._place = place
        self._at = 0

    def open(self) -> None:
        """Begin behind what was acknowledged."""
        self._at = self.acknowledged()

    def receive(self) -> Sequence[Delivery]:
        """The next few."""
        numbers = range(self._at, min(self._at + _BATCH, len(self._plan)))
        self._at = numbers.stop
        if not numbers:
            time.sleep(_LOOK_SECONDS)
        return [sending.delivery(Sent(item=self._plan.item(n))) for n in numbers]

    def acknowledge(self) -> None:
        """Forget all that was received; a killed process has done that whole or not at all."""
        file = self._place.with_suffix(f".{os.getpid()}")
        file.write_text(str(self._at), encoding="ascii")
        file.replace(self._place)

    def close(self) -> None:
        """Nothing is open."""

    def acknowledged(self) -> int:
        """How many are gone from the queue."""
        with suppress(FileNotFoundError):
            return int(self._place.read_text(encoding="ascii"))
        return 0


def _play(floor: Floor) -> None:
    floor.fleet.start()
    broker = _Broker(floor.plan, floor.folder / "broker")
    numbers = list(range(len(floor.plan)))
    # The broker has them all: its publishers were told that they are safe.
    history.write("acked", sender=0, n=numbers, words="n" * len(numbers))
    random = Random(floor.seed)  # noqa: S311 - a plan, not a secret
    until = time.monotonic() + _SECONDS
    for kills in range(_KILLS + 1):
        receiving = fork(partial(receiver.run, broker, Event()))
        since, few = broker.acknowledged(), random.randint(1, 5) * _BATCH
        end = len(floor.plan) if kills == _KILLS else min(since + few, len(floor.plan))
        while broker.acknowledged() < end and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
        time.sleep(random.uniform(0, 2 * _LOOK_SECONDS))
        os.kill(receiving, signal.SIGKILL)
        wait(receiving, _SECONDS)
    floor.drain()
    floor.tidy_up()


SCENE = Scene(
    name="receivers",
    profile=Profile(
        name="receivers",
        messages=480,
        seconds=1,
        senders=1,
        shares={},
        long_runs=0,
        duplicates=0,
        mismatches=0,
        accounts=50,
    ),
    play=_play,
    checks=without(),
    has_queue=True,
)
