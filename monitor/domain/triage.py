"""Groups of what needs a person: which kinds of alerts, the states of a group, and its name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from monitor.domain.states import AlertKind

# Worst first. A throttled consumer heals by itself: it is told, but nobody has to do anything.
KINDS = (
    AlertKind.EFFECT_IN_DOUBT,
    AlertKind.CONFLICT,
    AlertKind.HELD_SESSION,
    AlertKind.DEAD_LETTER,
    AlertKind.MISMATCH,
    AlertKind.GAP,
)
GROWTH = 10  # a snooze ends when its group was raised more than so many times as often
LONGEST_SNOOZE = timedelta(days=92)
LONGEST_NOTE = 1000  # characters


class GroupState(StrEnum):
    """How a group stands; derived from its alerts and from what people said of it."""

    NEW = "new"  # it is there, and nobody has taken it
    REGRESSED = "regressed"  # it was gone, is there again, and nobody has taken it since
    ONGOING = "ongoing"  # somebody looks after it
    SNOOZED = "snoozed"  # it is there, and shall not be shown as new until a time
    RESOLVED = "resolved"  # none of its alerts is live


NEEDS_SOMEBODY = (GroupState.NEW, GroupState.REGRESSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupKey:
    """The name of a group: alerts of one kind and consumer (its id) with one cause."""

    kind: str
    consumer: int
    cause: str
