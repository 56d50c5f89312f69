"""The messages of a session as a train: every car with the numbers that are missing before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from monitor.reports.messages import MessageRow
from monitor.reports.sessions import SessionDetail


@dataclass(frozen=True, slots=True, kw_only=True)
class Car:
    """A message, and the first and last number that is missing before it."""

    row: MessageRow
    missing: tuple[int, int] | None


def cars(session: SessionDetail) -> list[Car]:
    """The cars in order. Numbers before the next one to run are no gaps: they were given up."""
    return list(_cars(session))


def states(found: list[Car]) -> list[MessageRow]:
    """One message of each look in the train, for its legend, in the order of the train."""
    looks: dict[tuple[object, bool, bool], MessageRow] = {}
    for car in found:
        look = (car.row.state, car.row.parked, car.row.due_at is None)
        looks.setdefault(look, car.row)
    return list(looks.values())


def _cars(session: SessionDetail) -> Iterator[Car]:
    expected = session.next
    for row in session.strip:
        missing = None
        if expected is not None and row.sequence is not None and row.sequence >= expected:
            if row.sequence > expected:
                missing = (expected, row.sequence - 1)
            expected = row.sequence + 1
        yield Car(row=row, missing=missing)
