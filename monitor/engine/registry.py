"""The consumers of this process: declared with @consumer, found by name or source."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, get_type_hints

from monitor.domain.consumer import Consumer
from monitor.domain.effect import Effect
from monitor.domain.errors import ConfigurationError
from monitor.domain.message import Message
from monitor.domain.order import Numbered, Priority
from monitor.domain.projection import Fingerprint
from monitor.domain.retry import Retry

Handler = TypeVar("Handler", bound=Callable[..., Any])

_consumers: dict[str, Consumer] = {}


def consumer(  # noqa: PLR0913 - the author's whole policy in one place, keywords only
    name: str,
    *,
    source: str,
    types: Sequence[str] | None = None,
    session: str | None = None,
    payload: type | None = None,
    when_dead: str = "skip",
    retry: Retry | None = None,
    timeout_seconds: float = 30.0,
    external: bool = False,
    lease_seconds: float = 30.0,
    effects: Sequence[Effect] = (),
    numbered: Numbered | None = None,
    priority: Callable[[str], Priority] | None = None,
    concurrency: int | None = None,
    check_session: Callable[[Any, str], bool] | None = None,
    version: str | None = None,
    fingerprint: Fingerprint | None = None,
) -> Callable[[Handler], Handler]:
    """Declare a handler. The function stays a plain function, callable in tests without a broker.

    The first parameter is the payload (its annotation gives the type unless payload= does); a
    second one receives the Message. Raises ConfigurationError for a wrong policy or a taken name.
    """

    def declare(handler: Handler) -> Handler:
        wants_message = _wants_message(name, handler)
        add(
            Consumer(
                name=name,
                source=source,
                handler=handler,
                types=None if types is None else tuple(types),
                session=session,
                payload=payload or _annotated_payload(handler),
                when_dead=when_dead,
                retry=retry or Retry(),
                timeout_seconds=timeout_seconds,
                wants_message=wants_message,
                external=external,
                lease_seconds=lease_seconds,
                effects=tuple(effects),
                numbered=numbered,
                priority=priority,
                concurrency=concurrency,
                check_session=check_session,
                version=version,
                fingerprint=fingerprint,
            )
        )
        return handler

    return declare


def add(consumer: Consumer) -> None:
    """Register a consumer; the same handler again (a reload) is harmless."""
    known = _consumers.get(consumer.name)
    if known is not None and known.handler is not consumer.handler:
        raise ConfigurationError(
            f"Two handlers declare the consumer {consumer.name!r}; rename one."
        )
    _consumers[consumer.name] = consumer


def remove(name: str) -> None:
    """Forget a consumer (tests)."""
    _consumers.pop(name, None)


def get(name: str) -> Consumer | None:
    """The consumer of that name, or None."""
    return _consumers.get(name)


def all_consumers() -> list[Consumer]:
    """Every consumer, by name."""
    return sorted(_consumers.values(), key=lambda each: each.name)


def takers(source: str, message_type: str) -> list[Consumer]:
    """The consumers of a source that want this type, by name."""
    return [c for c in all_consumers() if c.source == source and c.takes(message_type)]


def _wants_message(name: str, handler: Callable[..., Any]) -> bool:
    parameters = list(inspect.signature(handler).parameters.values())
    positional = [
        p
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    if not 1 <= len(positional) <= 2:  # noqa: PLR2004
        raise ConfigurationError(
            f"Consumer {name}: its handler must take (payload) or (payload, message: Message)."
        )
    return len(positional) == 2  # noqa: PLR2004


def _annotated_payload(handler: Callable[..., Any]) -> type | None:
    first = next(iter(inspect.signature(handler).parameters))
    hint = get_type_hints(handler).get(first)
    return (
        hint
        if isinstance(hint, type) and hint is not Message and hint.__module__ != "builtins"
        else None
    )
