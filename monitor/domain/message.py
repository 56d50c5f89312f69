"""A delivery on its way in, and the message a handler sees."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from monitor.domain.errors import HandlerError
from monitor.domain.states import Cause, State, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One arrival of a message, mapped by its source; not yet judged.

    key and session are opaque text, compared byte for byte. session "" means none.
    payload is the body exactly as received. headers are for people: text to text.
    """

    source: str
    origin: str
    key: str
    payload: bytes
    type: str = ""
    session: str = ""
    sequence: int | None = None
    is_last: bool = False  # nothing comes after it in its session
    not_before: datetime | None = None  # with a zone; None: at once
    sent_at: datetime | None = None  # as its sender says, with a zone
    window_seconds: float | None = None  # how far back copies are recognised; None: not looked at
    old_is_dead: bool = True  # one that was sent before that is set aside, else only counted
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    correlation_id: str | None = None
    traceparent: str | None = None
    redelivered: bool = False
    malformed: str = (
        ""  # why the body cannot be read; set by brokers only: set aside as dead(malformed)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What ingest did with one delivery for one consumer. message_id is the first message's id.

    A refused delivery left no row: message_id is 0, first_seen None, and reason names the rule.
    """

    verdict: Verdict
    consumer: str
    message_id: int = 0
    first_seen: datetime | None = None
    reason: str = ""
    state: State | None = None  # of the first message; only for duplicates and mismatches
    cause: Cause | None = None  # only for duplicates


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What a handler sees of its message. attempt counts from 1; payload is the raw body."""

    id: int
    consumer: str
    source: str
    origin: str
    key: str
    type: str
    session: str
    sequence: int | None
    attempt: int
    content_type: str
    payload: bytes
    headers: Mapping[str, str]
    received_at: datetime
    correlation_id: str | None = None
    traceparent: str | None = None
    revision: int = 1  # above 1: a person corrected the payload

    def effect(self, name: str, request: Any = None) -> Any:
        """Make a declared call to the outside, known before it is made; its result.

        Only the message of an external consumer can: here the handler runs inside the transaction.
        """
        raise HandlerError(
            f"The effect “{name}” would be made inside the transaction of {self.consumer}: if that "
            "rolled back, the outside would keep what we forgot. Declare the consumer external."
        )

    def transaction(self) -> AbstractContextManager[Any]:
        """Open the transaction of the handler's own tables; its end marks the message as done.

        The value has result and again_after(seconds). Only for the message of an external consumer.
        """
        raise HandlerError(
            f"{self.consumer} already runs inside the transaction that marks its message as done; "
            "only the handler of an external consumer opens its own."
        )
