"""Two people requeue the same dead message at the same moment."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

import psycopg

from monitor import Message, Retry
from monitor.domain.actor import SYSTEM
from monitor.domain.errors import RefusedError
from monitor.operations import messages
from proof import consumers, history
from proof.checkers.facts import Facts, Violation
from proof.mutants import sending
from proof.mutants.floor import Floor, declare_otherwise, fork, wait
from proof.mutants.mutant import Scene, without
from proof.profiles import Profile

_CONSUMER = "proof.append"
_PEOPLE = 2
_SECONDS = 5.0
_LOOK_SECONDS = 0.005
_WAITING = (
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


def _play(floor: Floor) -> None:
    mended = floor.folder / "mended"

    def handler(payload: dict[str, Any], message: Message) -> None:
        if not mended.exists():
            raise consumers.RefusedError("broken until somebody mends it")
        consumers.append(payload, message)

    declare_otherwise(_CONSUMER, handler=handler, retry=Retry(limit=1))
    floor.fleet.start()
    sending.send(floor)
    floor.drain()
    mended.touch()
    for message, lane, version in floor.query("SELECT id, lane, version FROM comboio_dead"):
        _requeue(floor, int(str(message)), int(str(lane)), int(str(version)))
    floor.drain()
    floor.tidy_up()


def _requeue(floor: Floor, message: int, lane: int, version: int) -> None:
    """Both have read that it is dead; then the lane is given free."""
    with psycopg.connect(floor.database_url) as own:
        own.execute("SELECT FROM comboio_lane WHERE lane = %s FOR UPDATE", [lane])
        people = [fork(partial(_click, name, message, version)) for name in range(_PEOPLE)]
        until = time.monotonic() + _SECONDS
        while floor.query(_WAITING)[0][0] != _PEOPLE and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
    for pid in people:
        wait(pid, _SECONDS)


def _click(name: int, message: int, version: int) -> None:
    actor = replace(SYSTEM, name=f"person {name}", click=uuid4())
    try:
        messages.requeue(actor, message, seen=version)
    except RefusedError:
        return
    history.write("act", verb="requeue", object=message, id=message, by=os.getpid())


def _requeues(facts: Facts) -> Iterator[Violation]:
    """Each message died once, so it was requeued once."""
    times = Counter(row[4] for row in facts.rows("audit") if row[2] == "requeue")
    for message_id, number in times.items():
        if number > 1:
            text = f"requeued {number} times, and it died once"
            yield Violation(kind="doubles", text=text, message_id=message_id)


SCENE = Scene(
    name="requeues",
    profile=Profile(
        name="requeues",
        messages=30,
        seconds=1,
        senders=2,
        batch=10,
        shares={"append": 0.4},
        long_runs=0,
        duplicates=0,
        mismatches=0,
        accounts=10,
    ),
    play=_play,
    checks={**without("attempts"), "requeues": _requeues},
)
