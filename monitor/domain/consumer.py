"""What a consumer is: a named handler with its policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from monitor.domain.errors import ConfigurationError
from monitor.domain.places import Place
from monitor.domain.retry import Retry

NAME_BYTES = 200
NO_CONSUMER = 0  # id of the row that stands for "nobody takes this"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """A handler with its policy: it takes (payload) or (payload, message), returns JSON or None."""

    name: str
    source: str
    handler: Callable[..., Any]
    types: tuple[str, ...] | None = None  # None: every type of its source
    session: str | None = None  # jmespath of the session in the payload; None: as the source says
    payload: type | None = None  # dataclass the JSON body is read into; None: plain JSON values
    when_dead: str = "skip"
    retry: Retry = field(default_factory=Retry)
    timeout_seconds: float = 30.0
    wants_message: bool = False

    def __post_init__(self) -> None:
        if not self.name or len(self.name.encode()) > NAME_BYTES or not self.name.isprintable():
            raise ConfigurationError(
                f"Consumer name {self.name!r}: 1 to 200 bytes of printable text are needed."
            )
        if self.when_dead not in ("skip", "hold"):
            raise ConfigurationError(
                f"Consumer {self.name}: when_dead={self.when_dead!r}; choose “skip” or “hold”."
            )
        if self.session is not None:
            self._check_session(self.session)
        if self.timeout_seconds <= 0:
            raise ConfigurationError(
                f"Consumer {self.name}: timeout_seconds={self.timeout_seconds}; it must be above 0."
            )

    def _check_session(self, session: str) -> None:
        try:
            Place.parse(session)
        except ConfigurationError as error:
            raise ConfigurationError(f"Consumer {self.name}: session: {error}") from error

    def takes(self, message_type: str) -> bool:
        """Whether this consumer wants messages of that type."""
        return self.types is None or message_type in self.types
