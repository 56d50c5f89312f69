"""The loop of a worker: every consumer in turn, until a full rotation finds nothing to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from django.db import connection, transaction

from monitor.engine import (
    batch,
    deaths,
    directory,
    external,
    failure,
    registry,
    solo,
    telemetry,
    throttle,
)
from monitor.engine import span as spans
from monitor.engine.life import Life
from monitor.engine.target import Target
from monitor.store import consumers

# Of one consumer before it is the others' turn: looking for work costs two statements each time.
_BATCHES_A_TURN = 5
_LOOK_SECONDS = 0.25  # between two looks for what dead workers left


def drain(life: Life, seconds: float, should_stop: Callable[[], bool] = lambda: False) -> int:
    """Run messages until none may run, the time box is over or should_stop says so; how many.

    On Django's connection, outside any transaction. When the database is away the connection is
    dropped, the batch forgotten (its lock dies with the connection) and the error comes out.
    """
    deadline = monotonic() + seconds
    total = 0
    try:
        while monotonic() < deadline and not should_stop():
            moved = _rotation(life, lambda: monotonic() >= deadline or should_stop())
            if not moved:
                break
            total += moved
        life.withdraw()
    except Exception as error:
        _forget(life, error)
        raise
    return total


def _rotation(life: Life, is_over: Callable[[], bool]) -> int:
    moved = 0
    life.begins_turn()
    external.give_back(life)
    targets = _targets(life)
    looked_at = -_LOOK_SECONDS
    for target in targets:
        if is_over():
            break
        if monotonic() - looked_at > _LOOK_SECONDS:
            moved += _left_behind(life, targets)
            looked_at = monotonic()
        if target.is_probe and not throttle.begin_probe(life.cursor(), target):
            continue
        if target.consumer.external:
            moved += external.run_some(life, target, is_over)
        elif target.is_probe:
            moved += _batch(life, target, is_over)
        else:
            moved += _turn(life, target, is_over)
    return moved


def _left_behind(life: Life, targets: Sequence[Target]) -> int:
    """What dead workers left comes first, however long the queue, and takes one short turn."""
    deaths.gather(life)
    urgent = consumers.urgent(life.cursor())
    moved = 0
    for target in targets:
        if target.id in urgent and not target.is_probe:
            take = external.take_over if target.consumer.external else solo.run_all
            moved += take(life, target)
    return moved


def _turn(life: Life, target: Target, is_over: Callable[[], bool]) -> int:
    """Some batches of a consumer, and the suspects that these found."""
    moved = 0
    for _ in range(_BATCHES_A_TURN):
        count = _batch(life, target, is_over)
        moved += count
        if not count or life.is_away(target.id):
            break
        if life.takes_suspects(target.id):
            moved += solo.run_all(life, target)
    return moved


def _batch(life: Life, target: Target, is_over: Callable[[], bool]) -> int:
    """One batch of the consumer: its most important sessions first; how many moved."""
    for span in spans.in_turn(target, life.look(target.id)):
        if moved := _visit(life, target, span, is_over):
            return moved
    return 0


def _visit(life: Life, target: Target, span: spans.Span, is_over: Callable[[], bool]) -> int:
    """Visit lanes until a batch moved something, or every lane of the span was seen."""
    start = life.first_lane(span)
    has_wrapped = False
    while not is_over():
        before = life.first_lane(span)
        visit = batch.run(life, target, span)
        if not visit.is_empty:
            return visit.done + visit.failed + visit.aside
        if has_wrapped and (visit.end_lane is None or visit.end_lane >= start):
            return 0
        if visit.end_lane is None or life.first_lane(span) <= before:
            if has_wrapped:
                return 0
            has_wrapped = True
            life.go_on_after(span, None)
    return 0


def _targets(life: Life) -> list[Target]:
    if not directory.is_complete():
        with transaction.atomic(durable=True):
            directory.declare(life.cursor())
    cursor = life.cursor()
    ids = directory.ids(cursor)
    declared = {ids[each.name]: each for each in registry.all_consumers()}
    found = [
        Target(declared[each.id], each.id, each.is_troubled, each.is_throttled)
        for each in consumers.runnable(cursor, list(declared))
    ]
    return life.random.sample(found, len(found))


def _forget(life: Life, error: Exception) -> None:
    if failure.is_away(error):
        telemetry.engine_event("database away", error_class=type(error).__qualname__)
        connection.close()
    try:
        life.withdraw()
    except Exception as second:  # the database is away for this connection too
        telemetry.engine_event("announcement kept", error_class=type(second).__qualname__)
