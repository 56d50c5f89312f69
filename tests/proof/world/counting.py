"""Two consumers that leave one row for each message: a second one would show."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.apps import apps

from monitor import Message
from monitor.domain.consumer import Consumer
from monitor.engine import directory, registry


def declare() -> None:
    _add("inside", _count)
    _add("outside", _count_outside, external=True, lease_seconds=2.0)


@contextmanager
def declared() -> Iterator[None]:
    """Known to this process while the block runs."""
    declare()
    directory.forget()
    try:
        yield
    finally:
        for kind in ("inside", "outside"):
            registry.remove(f"count.{kind}")
        directory.forget()


def _add(kind: str, handler: Callable[..., Any], **more: Any) -> None:
    name = f"count.{kind}"
    registry.add(
        Consumer(
            name=name, source="count", types=(kind,), handler=handler, wants_message=True, **more
        )
    )


def _count(payload: dict[str, Any], message: Message) -> None:
    apps.get_model("auth.Group").objects.create(name=message.key)
    time.sleep(payload.get("seconds", 0.0))


def _count_outside(payload: dict[str, Any], message: Message) -> None:
    time.sleep(payload.get("seconds", 0.0))
    with message.transaction():
        apps.get_model("auth.Group").objects.create(name=message.key)
