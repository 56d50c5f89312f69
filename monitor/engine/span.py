"""Stretches of a consumer's lanes, and in which turn those of its priorities are looked at."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.domain.order import BANDS, Priority
from monitor.engine.target import Target
from monitor.store.queue import LANES_PER_CONSUMER

_NORMAL_EVERY, _LOW_EVERY = 8, 16  # looks, so that a busy higher priority starves nobody


@dataclass(frozen=True, slots=True)
class Span:
    """Lanes from first up to, but without, end."""

    first: int
    end: int


def whole(consumer_id: int) -> Span:
    """All lanes of a consumer."""
    start = consumer_id * LANES_PER_CONSUMER
    return Span(start, start + LANES_PER_CONSUMER)


def in_turn(target: Target, look: int) -> list[Span]:
    """The stretches to look at, the most important first; look counts the looks so far.

    Source: the priority queue pattern with a share for the lower ones (Azure Architecture Center).
    """
    if target.consumer.priority is None:
        return [whole(target.id)]
    order = [Priority.HIGH, Priority.NORMAL, Priority.LOW]
    if look % _LOW_EVERY == 0:
        order = [Priority.LOW, Priority.HIGH, Priority.NORMAL]
    elif look % _NORMAL_EVERY == 0:
        order = [Priority.NORMAL, Priority.HIGH, Priority.LOW]
    start = target.id * LANES_PER_CONSUMER
    return [Span(start + BANDS[each][0], start + BANDS[each][1]) for each in order]
