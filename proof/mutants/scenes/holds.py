"""Sessions that a person holds and resumes while they run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

from monitor import Message
from monitor.domain.actor import SYSTEM
from monitor.domain.errors import RefusedError
from monitor.operations import sessions
from proof import consumers, history
from proof.checkers.facts import Facts, Violation
from proof.mutants import sending
from proof.mutants.floor import Floor, declare_otherwise, wait
from proof.mutants.mutant import Scene, without
from proof.profiles import Profile

_CONSUMER = "proof.append"
_HOLDS = 60
_HELD_SECONDS = 0.06
_SECONDS = 20.0
_HANDLER_SECONDS = 0.004  # some handlers fit into a batch
# The second and third message of each batch at work, with their sessions: one of them has mostly
# not begun.
_BUSY = """
SELECT m.session, m.id
  FROM comboio_worker w CROSS JOIN unnest(w.ids[2:3]) u (id) JOIN comboio_message m ON m.id = u.id
  JOIN comboio_ready r ON r.lane = m.lane AND r.session = m.session AND r.id = m.id
  LEFT JOIN comboio_gate g ON g.session = m.session
 WHERE m.session > 0 AND g.session IS NULL ORDER BY m.session
"""


def _play(floor: Floor) -> None:
    declare_otherwise(_CONSUMER, handler=_handler)
    floor.fleet.start()
    senders = sending.begin(floor)
    random = Random(floor.seed)  # noqa: S311 - a plan, not a secret
    holds, until = 0, time.monotonic() + _SECONDS
    while holds < _HOLDS and time.monotonic() < until:
        waiting = floor.query(_BUSY)
        if waiting:
            session, message = random.choice(waiting)
            with suppress(RefusedError):  # it is busy for long
                _hold(floor, int(str(session)), int(str(message)))
            holds += 1
        elif not floor.moving() and holds:
            break
    for pid in senders:
        wait(pid, _SECONDS)
    floor.drain()
    floor.tidy_up()


def _handler(payload: dict[str, Any], message: Message) -> None:
    """So slow that others of its batch stand announced behind it for a while."""
    time.sleep(_HANDLER_SECONDS)
    consumers.append(payload, message)


def _hold(floor: Floor, session: int, message: int) -> None:
    sessions.hold(SYSTEM, session, reason="to see that it stands still")
    history.write("act", verb="hold", object=session, id=message)
    time.sleep(_HELD_SECONDS)
    ((seen,),) = floor.query("SELECT version FROM comboio_gate WHERE session = %s", session)
    history.write("act", verb="resume", object=session, id=message)
    sessions.resume(SYSTEM, session, seen=int(str(seen)))


def _holds(facts: Facts) -> Iterator[Violation]:
    """Between the return of a hold and its resume no handler of the session begins."""
    session_of = {each.id: (each.consumer, each.session) for each in facts.all_messages()}
    held: set[tuple[str, str]] = set()
    for line in facts.lines:
        if line["event"] == "act" and line["verb"] in ("hold", "resume"):
            held ^= {session_of[line["id"]]}
        elif line["event"] == "start" and session_of[line["id"]] in held:
            yield Violation(
                kind="other",
                text="its handler began while its session was held",
                key=line["key"],
                message_id=line["id"],
            )


SCENE = Scene(
    name="holds",
    profile=Profile(
        name="holds",
        messages=2000,
        seconds=1,
        senders=3,
        batch=40,
        shares={"append": 1.0},
        long_runs=0,
        duplicates=0,
        mismatches=0,
    ),
    play=_play,
    checks={**without(), "holds": _holds},
)
