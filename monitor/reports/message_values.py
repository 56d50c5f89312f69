"""What a report tells about a message: values only, shared by the lists and the detail pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.domain.states import State
from monitor.reports.effect_values import Doubt, EffectRow


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRow:
    """A message in a list. session_id None and session "" when it has no session.

    due_at: its sender delayed it until then. reason: why it is dead, "" when it is not.
    """

    id: int
    consumer_id: int
    consumer: str
    state: State | None
    parked: bool
    source: str
    origin: str
    key: str
    type: str
    session_id: int | None
    session: str
    sequence: int | None
    received_at: datetime
    payload_bytes: int
    due_at: datetime | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMatch:
    """A session whose key begins with the text searched for."""

    id: int
    consumer_id: int
    consumer: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search met: exact message ids first, then keys by prefix; sessions by prefix."""

    messages: tuple[MessageRow, ...]
    sessions: tuple[SessionMatch, ...]
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One entry of a timeline.

    kind: received, duplicate, mismatch, effect (begun), evidence, dead, discarded, done, lease (it
    runs under it now), parked (behind another message), a verb on its session or consumer, or the
    event's own word (a failed attempt, an operator's verb). detail holds what belongs to the kind,
    values ready to show.
    """

    at: datetime
    kind: str
    actor: str
    attempt: int | None
    text: str
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateRow:
    """One kept duplicate of a message."""

    number: int
    at: datetime
    source: str
    cause: str
    gap_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MismatchLink:
    """A mismatch of this message. verdict None: still open."""

    id: int
    at: datetime
    count: int
    verdict: str | None
    accepted_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dead:
    """Why a message is (or, when discarded, was) dead. version: what requeue and discard name."""

    reason: str
    error_class: str
    error: str
    cause: str
    attempts: int
    at: datetime
    version: int
    discarded_at: datetime | None = None
    discarded_by: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a message was processed. result: pretty JSON text, "" for none.

    is_redacted: whether something of the result is hidden.
    """

    at: datetime
    milliseconds: float
    attempts: int
    result: str
    is_redacted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Why a session does not run now. version: what resume names."""

    session_id: int
    held: bool
    held_by: str
    held_reason: str
    dead_message: int | None
    retry_at: datetime | None
    head: int | None
    attempts: int
    solo_until: int | None
    starts: int
    error: str
    since: datetime
    version: int

    @property
    def holds(self) -> bool:
        """Whether the session is held (by an operator or a dead head), not only waiting."""
        return self.held or self.dead_message is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """Everything about one message but its payload. dead is set for dead and discarded messages.

    version: what the message's verbs name as seen (0 when no verb applies now).
    neighbours: up to 5 before and 5 after in its session, in order, without itself.
    is_redacted: whether something of its headers or its result is hidden.
    """

    row: MessageRow
    content_type: str
    headers: tuple[tuple[str, str], ...]
    is_redacted: bool
    correlation_id: str
    traceparent: str
    gate: Gate | None
    dead: Dead | None
    done: Done | None
    version: int
    duplicates_count: int
    mismatches_count: int
    duplicates: tuple[DuplicateRow, ...]
    mismatches: tuple[MismatchLink, ...]
    accepted_from: int | None
    effects: tuple[EffectRow, ...]
    doubt: Doubt | None  # what holds its session, this message or one before it
    timeline: tuple[Moment, ...]
    before: tuple[MessageRow, ...]
    after: tuple[MessageRow, ...]
    is_last: bool  # its sender marked it as the last of its session
    sent_at: datetime | None
    not_before: datetime | None
