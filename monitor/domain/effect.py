"""Effects outside the transaction: what an author declares, and what is said of an outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from monitor.domain.errors import ComboioError, ConfigurationError


class Kind(StrEnum):
    """What the provider can do for us when an outcome is unknown."""

    KEYED = "keyed"  # de-duplicates by our key: call again
    QUERYABLE = "queryable"  # can be asked: ask first
    NEITHER = "neither"  # a person decides


class Told(StrEnum):
    """What a probe, a callback or a person says about an effect."""

    DONE = "done"
    NOT_DONE = "not done"
    CANNOT_TELL = "cannot tell"
    REFUSED = "refused"


class NotDone(ComboioError):  # noqa: N818 - raised by a call that knows
    """Raised by a call: for certain nothing happened (no connection, 503). Tried again later."""


class EffectRefused(ComboioError):  # noqa: N818
    """Raised by a call: the provider said no for good (a 4xx). The effect has failed; no retry."""


class EffectInDoubtError(ComboioError):
    """The outcome of an effect is unknown and may not be found out by calling again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a call and a probe are given: the same key and request on every attempt."""

    key: str
    request: Any
    message_id: int
    traceparent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The answer of a probe: what it found, and what it shows for it."""

    told: Told
    result: Any = None
    reference: str = ""
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A declared call to the outside. call(Call) returns JSON, or raises NotDone or EffectRefused.

    Any other error leaves the outcome unknown. reconcile(Call) asks the provider and returns
    Evidence; kind "queryable" needs it. "not done" proves nothing before settle_seconds are over
    since the call. After key_window_seconds the provider may have forgotten the key: then no call
    is made by itself.
    """

    name: str
    call: Callable[[Call], Any]
    kind: str = Kind.KEYED
    reconcile: Callable[[Call], Evidence] | None = None
    settle_seconds: float = 5.0
    key_window_seconds: float = 86_400.0

    def __post_init__(self) -> None:
        if self.kind not in set(Kind):
            raise ConfigurationError(
                f"Effect {self.name}: kind={self.kind!r}; choose keyed, queryable or neither."
            )
        if self.kind == Kind.QUERYABLE and self.reconcile is None:
            raise ConfigurationError(
                f"Effect {self.name}: kind “queryable” needs reconcile=, which asks the provider."
            )
        if self.settle_seconds < 0 or self.key_window_seconds <= 0:
            raise ConfigurationError(
                f"Effect {self.name}: settle_seconds must be 0 or more, key_window_seconds above 0."
            )
