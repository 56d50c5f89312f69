"""When messages came: days with a wave, busy at noon and quiet at night."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

_DAY = 1_440
_SWING = 0.7  # the busiest minute has (1 + swing) times the traffic of the mean


def arrivals(until: datetime, days: int, count: int, random: Random) -> Iterator[tuple[str, str]]:
    """(minute, second) of `count` arrivals in the order of time, as PostgreSQL reads them.

    The last one came within the minute before `until`.
    """
    minutes = days * _DAY
    begin = until - timedelta(minutes=minutes)
    offset = begin.hour * 60 + begin.minute
    weights = [_weight(offset + at) for at in range(minutes)]
    share, total, told = count / sum(weights), 0.0, 0
    for at, weight in enumerate(weights):
        total += weight * share
        here = (count if at == minutes - 1 else round(total)) - told
        told += here
        # Cut to the whole minute, so no second lies after `until`.
        minute = (begin + timedelta(minutes=at)).strftime("%Y-%m-%d %H:%M:")
        for second in sorted(random.random() * 60 for _ in range(here)):
            yield minute, f"{second:09.6f}+00"


def _weight(minute: int) -> float:
    return 1 - _SWING * math.cos(2 * math.pi * (minute % _DAY) / _DAY)
