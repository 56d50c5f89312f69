"""What goes wrong on the way to the provider and back, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from random import Random


class Fault(StrEnum):
    """What happens to one request."""

    NONE = "none"
    UNAVAILABLE = "unavailable"  # 503, nothing done
    DROP = "drop"  # done, then the connection is cut without an answer
    CLOSED = "closed"  # the same, and the books are closed for a while: it cannot be looked up
    SLOW = "slow"  # answered late
    LATE = "late"  # done late, after the caller may have given up


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """How many of all requests fail. The same seed gives the same faults to the same requests."""

    seed: str = "0"
    unavailable: float = 0.0
    drop: float = 0.0
    closed: float = 0.0
    slow: float = 0.0
    slow_seconds: float = 1.0

    def choose(self, key: str, time: int) -> Fault:
        """What happens to the request with this key, the first time or a later one."""
        # By key and time, not by a common sequence: threads may come in any order.
        random = Random(f"{self.seed}/{key}/{time}")  # noqa: S311 - faults, not secrets
        point = random.random()
        for fault, share in (
            (Fault.UNAVAILABLE, self.unavailable),
            (Fault.DROP, self.drop),
            (Fault.CLOSED, self.closed),
            (Fault.SLOW, self.slow / 2),
            (Fault.LATE, self.slow / 2),
        ):
            if point < share:
                return fault
            point -= share
        return Fault.NONE
