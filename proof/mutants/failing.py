"""Bugs of what follows a failure: retries, attempts, dead letters, and what is left lying."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from monitor.engine import batch, solo, work
from monitor.engine.choose import Candidate
from monitor.store import dead_letters, gates, queue
from proof.mutants.mutant import Mutant, put, swap


def _retry_apart() -> None:
    put(work, "transaction", SimpleNamespace(atomic=nullcontext))


def _retry_holds_nobody() -> None:
    choose = batch.choose  # type: ignore[attr-defined]

    def passing(candidates: list[Candidate], limit: int) -> list[Candidate]:
        waiting = {each.id for each in candidates if each.gated and each.id == each.head}
        left = [each for each in candidates if each.id not in waiting]
        return choose([replace(c, gated=None) if c.gated and c.head else c for c in left], limit)

    put(batch, "choose", passing)


def _attempts_in_memory() -> None:
    fail, known = gates.fail, dict[int, int]()

    def failed(*where: Any, head: int, attempts: int, **more: Any) -> None:
        known[head] = attempts
        fail(*where, head=head, attempts=0, **more)

    put(gates, "fail", failed)
    put(Candidate, "failed_attempts", property(lambda self: known.get(self.id, 0)))


def _dead_thrown_away() -> None:
    move = dead_letters.SQL["bury"]
    dead_letters.SQL["bury"] = move[move.index("DELETE") : move.index("RETURNING")]


def _stranded() -> None:
    swap(queue.SQL, "read", "AND r.session <= w.after", "AND false")


def _one_death_condemns() -> None:
    put(solo, "STARTS", 1)


MUTANTS = (
    Mutant(
        name="retry in another transaction",
        rule="What a failed attempt wrote is undone in the transaction that records the retry.",
        seam="engine/work.py transaction",
        scene="failures",
        expected=("ledger",),
        apply=_retry_apart,
    ),
    Mutant(
        name="retry passed by followers",
        rule="A session waits for the retry of its head.",
        seam="engine/batch.py choose",
        scene="failures",
        expected=("session_order", "tries"),
        apply=_retry_holds_nobody,
    ),
    Mutant(
        name="attempts in memory",
        rule="Attempts are counted in the database, whoever runs the next one.",
        seam="store/gates.py fail",
        scene="failures",
        expected=("tries",),
        apply=_attempts_in_memory,
    ),
    Mutant(
        name="dead letter thrown away",
        rule="A message that is given up stays among the dead letters.",
        seam="dead_letters.sql bury",
        scene="failures",
        expected=("conservation",),
        apply=_dead_thrown_away,
    ),
    Mutant(
        name="stranded message",
        rule="Whatever is ready is looked at, wherever the worker's cursor stands.",
        seam="queue.sql read",
        scene="failures",
        expected=("conservation",),
        apply=_stranded,
    ),
    Mutant(
        name="one death condemns",
        rule="A message is given up only after three deaths of its own.",
        seam="engine/solo.py STARTS",
        scene="kills",
        expected=("attempts",),
        apply=_one_death_condemns,
    ),
)
