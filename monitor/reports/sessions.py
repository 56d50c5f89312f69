"""Sessions: which is stuck, on what, and what waits behind it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from monitor.reports.messages import Gate, MessageRow
from monitor.reports.page import LIMIT, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session in the list. blocker: dead head, held, retry, alone (after a crash) or "".

    head: the message that runs next or blocks. reason: why it is blocked, in words.
    """

    id: int
    consumer_id: int
    consumer: str
    key: str
    backlog: int
    head: int | None
    head_at: datetime | None
    blocker: str
    reason: str
    blocked_since: datetime | None
    retry_at: datetime | None
    version: int
    impact: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionList:
    """A page of sessions by backlog times age, and when the figures were taken."""

    page: Page[SessionRow]
    snapshot_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDetail:
    """One session. Counts are exact up to 10,000; a count of 10,001 means more.

    strip: its messages round the head in order (up to 20 before, 40 from the head on).
    head: first waiting message, or the dead one that holds it. dead_version: what its verbs name.
    """

    id: int
    consumer_id: int
    consumer: str
    key: str
    created_at: datetime | None
    ready: int
    dead: int
    head: MessageRow | None
    gate: Gate | None
    dead_version: int
    strip: tuple[MessageRow, ...]


def page(
    cursor: str | None = None,
    *,
    limit: int = LIMIT,
    consumer: int | None = None,
    blocked: bool = False,
) -> SessionList:
    """Sessions with a backlog or a hold, by backlog times age. blocked: only the held ones."""
    raise NotImplementedError


def detail(session_id: int) -> SessionDetail | None:
    """One session, or None when there is none with this id."""
    raise NotImplementedError
