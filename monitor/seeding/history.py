"""Makes a believable history up: the whole inbox as it is after days of traffic, in one go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import psycopg
from django.db import connection, transaction

from monitor.domain.durations import BUCKET_SECONDS, BUCKETS
from monitor.domain.errors import RefusedError
from monitor.seeding import days
from monitor.seeding.cast import Actor, cast
from monitor.seeding.pages import HEAVY, STRETCH, Writer
from monitor.seeding.plot import Gate, Plot
from monitor.seeding.shape import Shape
from monitor.store import consumers, snapshots
from monitor.store.seed import closing, rows, story

Say = Callable[[str], None]
_REQUEUES = 12
_STOPPED = (3, 7, 11)  # of them: too many failed again
_PEOPLE = ("anna", "bert", "olga")


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What was made: rows by what they are."""

    messages: int
    dead: int
    sessions: int
    ready: int
    in_doubt: int
    mismatches: int
    held_sessions: int
    gaps: int


def fill(shape: Shape, *, add: bool = False, say: Say = lambda _text: None) -> Made:
    """Fill the inbox in one transaction, and analyse it. RefusedError when it is not empty.

    add: beside what is there. No code declares the consumers, so no worker runs a message of them;
    the clock does its chores (a delayed one becomes ready, an old one goes).
    """
    with transaction.atomic(), _cursor() as cursor:
        if not add and rows.has_messages(cursor):
            raise RefusedError("The inbox holds messages already; --add puts a history beside.")
        rows.prepare(cursor, shape.seed)
        made = _tell(cursor, shape, say)
    say("statistics …")
    with _cursor() as cursor:
        rows.tidy(cursor)
    return made


def _cursor() -> psycopg.Cursor[Any]:
    connection.ensure_connection()
    return psycopg.Cursor(connection.connection)


def _tell(cursor: psycopg.Cursor[Any], shape: Shape, say: Say) -> Made:
    actors, until = cast(), datetime.now(UTC)
    first = rows.reserve(cursor, shape.messages + shape.mismatches * 2)
    random = Random(f"{shape.seed}/{first}")  # noqa: S311 - the same history for the same seed
    known = consumers.declare(cursor, [actor.consumer for actor in actors])
    ids = tuple(known[actor.consumer.name] for actor in actors)
    before = closing.last_ids(cursor)
    # A history beside another has accounts of its own: its sessions follow its own rules.
    accounts = "acc" if first == 1 else f"acc{first}"
    plot = Plot(shape=shape, actors=actors, ids=ids, accounts=accounts, random=random)
    writer = Writer(plot=plot, random=random, until=until, first_id=first)
    times = days.arrivals(until, shape.days, shape.messages, random)
    for at in range(0, shape.messages, STRETCH):
        writer.write(cursor, at, min(STRETCH, shape.messages - at), times)
        if at and at % (STRETCH * 25) == 0:
            say(f"{at:,} messages …")
    writer.write_accepted(cursor, first + shape.messages)
    say("duplicates, effects, gates …")
    _stories(cursor, writer, first)
    say("alerts, audit, counters …")
    _close(cursor, shape, actors, {"first": first, **before})
    return Made(
        messages=shape.messages + len(writer.accepted),
        dead=plot.told["dead"],
        sessions=len(writer.met),
        ready=writer.ready,
        in_doubt=len(writer.in_doubt),
        mismatches=len(writer.mismatches),
        held_sessions=sum(gate.kind in ("dead", "held") for gate in plot.gates.values()),
        gaps=sum(gate.kind == "gap" for gate in plot.gates.values()),
    )


def _stories(cursor: psycopg.Cursor[Any], writer: Writer, first: int) -> None:
    """What hangs on single messages and sessions."""
    plot = writer.plot
    gates = [_gate(session, gate, writer) for session, gate in plot.gates.items()]
    rows.copy(cursor, "gates", [row for row in gates if row is not None])
    rows.copy(cursor, "sequences", _sequences(writer))
    story.tell(cursor, "duplicates", {"first": first})
    story.tell(cursor, "doubts", {"ids": writer.in_doubt})
    for actor, consumer in zip(plot.actors, plot.ids, strict=True):
        values = {"consumer": consumer, "first": first, "count": 2 + plot.shape.doubts // 40}
        if actor.consumer.external:
            story.tell(cursor, "effects", values)
            story.tell(cursor, "conflicts", values)
    held, throttled = (_named(plot, name) for name in ("seed.search", "seed.sms"))
    story.tell(cursor, "hold_consumer", {"consumer": held})
    story.tell(cursor, "throttle", {"consumer": throttled})


def _close(
    cursor: psycopg.Cursor[Any], shape: Shape, actors: tuple[Actor, ...], values: dict[str, int]
) -> None:
    last = values["first"] + shape.messages - 1
    closing.tell(cursor, "alerts", values)
    closing.tell(cursor, "resolved", {"count": max(20, shape.messages // 2_000)})
    for number in range(_REQUEUES):
        failure = actors[number % len(actors)].failures[0]
        is_stopped = number in _STOPPED
        closing.tell(
            cursor,
            "requeue",
            {
                "cause": failure.cause,
                "from": values["first"] + shape.messages * number // _REQUEUES,
                "failed": 30 if is_stopped else number,
                "processed": 40 + 30 * number,
                "state": "stopped" if is_stopped else "done",
                "why": "30 of 100 failed again, more than 20 %" if is_stopped else "",
                "actor": _PEOPLE[number % 3],
                "per_second": (None, 10.0, 100.0)[number % 3],
                "at": datetime.now(UTC) - timedelta(hours=20 - number),
            },
        )
    closing.tell(cursor, "audit", values)
    buckets = {"buckets": list(BUCKETS), "bounds": list(BUCKET_SECONDS), "beyond": HEAVY - 19}
    closing.tell(cursor, "counters", {**values, "last": last, **buckets})
    closing.tell(cursor, "workers", {})
    snapshots.take(cursor)


def _gate(session: int, gate: Gate, writer: Writer) -> tuple[Any, ...] | None:
    """The row of a gate; None for what needs none: a gap and a doubt stand in their own tables."""
    if gate.kind not in ("dead", "held", "retry"):
        return None
    is_held, is_dead, is_retry = (gate.kind == kind for kind in ("held", "dead", "retry"))
    seconds = 20 + session % 240
    retry_at = writer.until + timedelta(seconds=seconds) if is_retry else None
    head = gate.head if is_retry else None
    by, reason = ("bert", "the customer asked us to wait") if is_held else (None, None)
    return (
        *(session, gate.consumer * 256 + session % 256, is_held, by, reason),
        *(gate.head if is_dead else None, retry_at, head, 1 + session % 4 if is_retry else 0),
        *(gate.error or None, writer.since[session]),
    )


def _sequences(writer: Writer) -> list[tuple[Any, ...]]:
    """How far each numbered session has come."""
    consumer = next(
        number
        for actor, number in zip(writer.plot.actors, writer.plot.ids, strict=True)
        if actor.consumer.numbered is not None
    )
    return [
        (
            *(session, consumer * 256 + session % 256, known.waits or known.last + 1),
            *((writer.since[session], known.before, writer.until) if known.is_gap else (None,) * 3),
        )
        for session, known in writer.plot.progress.items()
    ]


def _named(plot: Plot, name: str) -> int:
    names = [actor.consumer.name for actor in plot.actors]
    return plot.ids[names.index(name)]
