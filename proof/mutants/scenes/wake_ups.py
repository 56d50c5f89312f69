"""One message at a time comes to a worker that has nothing to do."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from functools import partial
from threading import Event

from monitor.engine import box
from monitor.engine.life import Life
from monitor.worker.parent import Parent
from proof import history
from proof.checkers.facts import Facts, Violation
from proof.mutants import sending
from proof.mutants.floor import Floor, fork
from proof.mutants.mutant import Scene, without
from proof.profiles import Profile
from proof.workload.batches import Sent
from proof.world.board import FIRST_WORKER, SharedBoard

_MOST_SECONDS = 0.45  # half of the poll that is only a safety net
_PATIENCE_SECONDS = 4.0
_PAUSE_SECONDS = 0.06
_LOOK_SECONDS = 0.01


def _play(floor: Floor) -> None:
    """The parent of the product's worker and one child, which drains when it is told to."""
    board = SharedBoard(floor.folder / "fleet.board")
    reads, writes = os.pipe()
    fork(partial(_work, board, reads))
    fork(lambda: Parent(board, partial(_wake, writes), Event()).listen())
    _wait_until_awake(floor)
    for done, item in enumerate(floor.plan.items()):
        time.sleep(_PAUSE_SECONDS)
        sending.deliver([Sent(item=item)], 0)
        until = time.monotonic() + _PATIENCE_SECONDS
        while _done(floor) <= done and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
    floor.drain()
    floor.tidy_up()


def _wake(writes: int) -> None:
    os.write(writes, b".")


def _work(board: SharedBoard, reads: int) -> None:
    index = FIRST_WORKER
    life = Life("child", note=partial(board.runs, index))
    signals = box.Signals(
        drains=partial(board.drains, index),
        idles=partial(board.idles, index),
        is_stopping=board.is_stopping,
    )
    while os.read(reads, 1):
        while box.run(life, signals):
            pass


def _wait_until_awake(floor: Floor) -> None:
    until = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < until:
        if floor.query("SELECT slot FROM comboio_worker"):  # it listens before it registers
            return
        time.sleep(_LOOK_SECONDS)


def _done(floor: Floor) -> int:
    return len(floor.query("SELECT id FROM comboio_done"))


def _wake_ups(facts: Facts) -> Iterator[Violation]:
    """Half of the messages begin sooner after their commit than the poll could find them."""
    told = {
        line["ids"][0]: line["mono_ns"]
        for line in history.read(facts.folder / "history")
        if line["event"] == "acked"
    }
    begun = {line["id"]: line["mono_ns"] for line in facts.lines if line["event"] == "start"}
    waits = [(begun[each] - told[each]) / 1e9 for each in told if each in begun]
    middle = statistics.median(waits) if waits else _PATIENCE_SECONDS
    if middle > _MOST_SECONDS:
        text = f"half of the messages waited for {middle:.2f} s although a worker was idle"
        yield Violation(kind="late", text=text)


SCENE = Scene(
    name="wake-ups",
    profile=Profile(
        name="wake-ups",
        messages=7,
        seconds=1,
        senders=1,
        shares={},
        long_runs=0,
        duplicates=0,
        mismatches=0,
        accounts=10,
    ),
    play=_play,
    checks={**without(), "wake_ups": _wake_ups},
)
