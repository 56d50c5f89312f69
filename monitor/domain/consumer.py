"""What a consumer is: a named handler with its policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from monitor.domain.effect import Effect
from monitor.domain.errors import ConfigurationError
from monitor.domain.order import Numbered, Priority
from monitor.domain.places import Place
from monitor.domain.projection import Fingerprint
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
    external: bool = False  # runs under a lease, effects first, then its transaction
    lease_seconds: float = 30.0
    effects: tuple[Effect, ...] = ()
    numbered: Numbered | None = None  # None: the order of arrival counts
    priority: Callable[[str], Priority] | None = None  # of a session, by its text alone
    concurrency: int | None = None  # sessions that run at once; None: as many as there are workers
    check_session: Callable[[Any, str], bool] | None = None  # (payload, session); False: dead
    fingerprint: Fingerprint | None = None  # what of a payload counts; None: all
    version: str | None = None  # natural: jmespath of the state's version; an older one is absorbed

    def __post_init__(self) -> None:
        if not self.name or len(self.name.encode()) > NAME_BYTES or not self.name.isprintable():
            raise ConfigurationError(
                f"Consumer name {self.name!r}: 1 to 200 bytes of printable text are needed."
            )
        if self.when_dead not in ("skip", "hold"):
            raise ConfigurationError(
                f"Consumer {self.name}: when_dead={self.when_dead!r}; choose “skip” or “hold”."
            )
        for setting in ("session", "version"):
            if (text := getattr(self, setting)) is not None:
                self._check_place(setting, text)
        self._check_effects()
        if self.concurrency is not None and self.concurrency < 1:
            raise ConfigurationError(
                f"Consumer {self.name}: concurrency={self.concurrency}; 1 or more is needed."
            )
        if self.timeout_seconds <= 0:
            raise ConfigurationError(
                f"Consumer {self.name}: timeout_seconds={self.timeout_seconds}; it must be above 0."
            )

    def _check_place(self, setting: str, text: str) -> None:
        try:
            Place.parse(text)
        except ConfigurationError as error:
            raise ConfigurationError(f"Consumer {self.name}: {setting}: {error}") from error

    def effect(self, name: str) -> Effect | None:
        """The declared effect of that name, or None."""
        return next((each for each in self.effects if each.name == name), None)

    def _check_effects(self) -> None:
        if self.lease_seconds is None or not self.lease_seconds > 0:
            raise ConfigurationError(
                f"Consumer {self.name}: lease_seconds={self.lease_seconds!r}; it must be above 0."
            )
        if self.effects and not self.external:
            raise ConfigurationError(
                f"Consumer {self.name} declares effects; it needs external=True, because a call to "
                "the outside must not be made inside the transaction."
            )
        if len({each.name for each in self.effects}) != len(self.effects):
            raise ConfigurationError(f"Consumer {self.name} declares an effect twice.")

    def takes(self, message_type: str) -> bool:
        """Whether this consumer wants messages of that type."""
        return self.types is None or message_type in self.types
