"""How long a failed message waits: exponential with full jitter and a cap."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from monitor.domain.errors import ConfigurationError

LARGEST_LIMIT = 10_000
_LARGEST_EXPONENT = 60  # 2**60 s is beyond any cap; larger powers would overflow a float


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Retry policy of a consumer: limit counts starts, the first one included.

    An error of a class in permanent is dead at once. One of a class in away says that a downstream
    is away (as DownstreamAway does): no attempt is counted, and the consumer may be throttled.
    """

    limit: int = 5
    base_seconds: float = 1.0
    cap_seconds: float = 300.0
    permanent: tuple[type[BaseException], ...] = ()
    away: tuple[type[BaseException], ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= LARGEST_LIMIT:
            raise ConfigurationError(
                f"Retry(limit={self.limit}): a message needs 1 to {LARGEST_LIMIT} starts."
            )
        if not 0 < self.base_seconds <= self.cap_seconds:
            raise ConfigurationError(
                f"Retry(base_seconds={self.base_seconds}, cap_seconds={self.cap_seconds}): "
                "0 < base_seconds <= cap_seconds is needed."
            )


def delay_seconds(retry: Retry, attempt: int, random: Random) -> float:
    """Seconds to wait after failed attempt number `attempt` (1 = first).

    Full jitter: uniform over (0, min(cap, base * 2**(attempt-1))], never 0.
    Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    """
    ceiling = longest_seconds(retry, attempt)
    return max(ceiling * random.random(), min(ceiling, 0.001))


def longest_seconds(retry: Retry, attempt: int) -> float:
    """The longest wait after failed attempt number `attempt` (1 = first)."""
    exponent = min(max(attempt - 1, 0), _LARGEST_EXPONENT)
    return min(retry.cap_seconds, retry.base_seconds * 2.0**exponent)
