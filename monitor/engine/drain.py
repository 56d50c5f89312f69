"""The loop of a worker: every consumer in turn, until a full rotation finds nothing to do."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from django.db import connection, transaction

from monitor.engine import batch, directory, external, failure, registry, solo, telemetry
from monitor.engine.life import Life
from monitor.engine.work import Target
from monitor.store import consumers

# Of one consumer before it is the others' turn: looking for work costs two statements each time.
_BATCHES_A_TURN = 5


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
    for target in _targets(life):
        if is_over():
            break
        if target.consumer.external:
            moved += external.run_some(life, target, is_over)
            continue
        moved += solo.run_all(life, target)
        for _ in range(_BATCHES_A_TURN):
            count = _batch(life, target, is_over)
            moved += count
            if not count:
                break
    return moved


def _batch(life: Life, target: Target, is_over: Callable[[], bool]) -> int:
    """Visit lanes until a batch moved something, or every lane of the consumer was seen."""
    start = life.first_lane(target.id)
    has_wrapped = False
    while not is_over():
        before = life.first_lane(target.id)
        visit = batch.run(life, target)
        if not visit.is_empty:
            return visit.done + visit.failed + visit.aside
        if has_wrapped and (visit.end_lane is None or visit.end_lane >= start):
            return 0
        if visit.end_lane is None or life.first_lane(target.id) <= before:
            if has_wrapped:
                return 0
            has_wrapped = True
            life.go_on_after(target.id, None)
    return 0


def _targets(life: Life) -> list[Target]:
    if not directory.is_complete():
        with transaction.atomic(durable=True):
            directory.declare(life.cursor())
    cursor = life.cursor()
    ids = directory.ids(cursor)
    declared = {ids[each.name]: each for each in registry.all_consumers()}
    found = consumers.runnable(cursor, list(declared))
    return [Target(declared[each], each) for each in life.random.sample(found, len(found))]


def _forget(life: Life, error: Exception) -> None:
    if failure.is_infrastructure(error):
        telemetry.engine_event("database away", error_class=type(error).__qualname__)
        connection.close()
    try:
        life.withdraw()
    except Exception as second:  # the database is away for this connection too
        telemetry.engine_event("announcement kept", error_class=type(second).__qualname__)
