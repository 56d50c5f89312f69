"""Dead letters: one by one and grouped by cause."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from monitor.reports.page import LIMIT, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterRow:
    """A dead message. holds_session: its session waits for it. version: what its verbs name."""

    id: int
    consumer_id: int
    consumer: str
    key: str
    type: str
    session_id: int | None
    session: str
    reason: str
    error_class: str
    error: str
    cause: str
    attempts: int
    at: datetime
    holds_session: bool
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Dead messages of one cause. count 10,001 means more than 10,000.

    max_version: what requeue_cause takes as up_to_version, so that later failures stay out.
    """

    cause: str
    reason: str
    error_class: str
    count: int
    first_at: datetime
    last_at: datetime
    sample_id: int
    sample_error: str
    consumers: tuple[str, ...]
    sessions_held: int
    max_version: int


def page(
    cursor: str | None = None,
    *,
    limit: int = LIMIT,
    consumer: int | None = None,
    cause: str | None = None,
    session: int | None = None,
) -> Page[DeadLetterRow]:
    """Dead messages, newest first. Raises ReportTimeoutError and CursorError."""
    raise NotImplementedError


def groups(*, consumer: int | None = None) -> tuple[Group, ...]:
    """Dead messages by cause, most first; at most 200 causes."""
    raise NotImplementedError


def group(cause: str) -> Group | None:
    """One cause, or None when no dead message has it."""
    raise NotImplementedError


def detail(message_id: int) -> DeadLetterRow | None:
    """One dead message, or None when it is not dead (any more)."""
    raise NotImplementedError
