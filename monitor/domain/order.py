"""How numbered messages of a session follow each other, and whose sessions go first."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from monitor.domain.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """The sender numbers the messages of each session without holes, from starts_at on.

    They run in the order of their numbers. A missing number stops its session; after gap_seconds an
    alert says so, and it goes on when the number comes or a person skips it. What comes behind its
    number, or after the message marked as the last, is set aside as stale.
    Source: Microsoft, "Sequential Convoy pattern", Azure Architecture Center.
    """

    starts_at: int = 1
    gap_seconds: float = 300.0

    def __post_init__(self) -> None:
        if self.starts_at < 0:
            raise ConfigurationError(f"Numbered(starts_at={self.starts_at}): 0 or more is needed.")
        if not self.gap_seconds > 0:
            raise ConfigurationError(
                f"Numbered(gap_seconds={self.gap_seconds}): it must be above 0."
            )


class Priority(IntEnum):
    """Which sessions are looked at first. The lower ones get every eighth look, so none starves."""

    HIGH = 0
    NORMAL = 1
    LOW = 2


# Of the 256 lanes of a consumer with priorities: (first, end) of each band.
BANDS = {Priority.HIGH: (0, 64), Priority.NORMAL: (64, 192), Priority.LOW: (192, 256)}
