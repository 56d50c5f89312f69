"""External consumers of the tests: each charges once, then writes one row in its transaction."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from django.contrib.auth.models import Group

from monitor.domain.consumer import Consumer
from monitor.domain.effect import Call, Effect, Evidence, Told
from monitor.domain.retry import Retry
from tests.engine import consuming

LEASE_SECONDS = 30.0
WINDOW_SECONDS = 86_400.0
PATIENT = Retry(limit=5, base_seconds=60, cap_seconds=60)  # so that a test sees what waits
_PREFIX = "charged/"


def never(_call: Call) -> Any:
    """The call of an effect whose provider a test puts in its place."""
    raise AssertionError("the real provider was called from a test")


def cannot_tell(_call: Call) -> Evidence:
    """A question that leads nowhere."""
    return Evidence(told=Told.CANNOT_TELL)


def charge(payload: Any, message: Any) -> None:
    """Charge what the payload says, then write the row of it."""
    write_row(message, message.effect("charge", payload))


def write_row(message: Any, receipt: Any) -> None:
    """The transaction of an external handler."""
    with message.transaction() as commit:
        Group.objects.create(name=f"{_PREFIX}{message.key}")
        commit.result = receipt


def charging(
    kind: str,
    handler: Callable[..., Any] = charge,
    *,
    call: Callable[[Call], Any] = never,
    **policy: Any,
) -> AbstractContextManager[Consumer]:
    """A consumer with the effect "charge" of this kind; a queryable one settles within 2 s."""
    effect = Effect(
        name="charge",
        call=call,
        kind=kind,
        reconcile=cannot_tell if kind == "queryable" else None,
        settle_seconds=2,
        key_window_seconds=WINDOW_SECONDS,
    )
    values = {"external": True, "lease_seconds": LEASE_SECONDS, "effects": (effect,)}
    return consuming(handler, **{**values, "retry": PATIENT, **policy})


def charged() -> int:
    """How many rows were committed."""
    return Group.objects.filter(name__startswith=_PREFIX).count()
