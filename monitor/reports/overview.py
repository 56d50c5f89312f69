"""Overview: is anything wrong, where, since when, and what next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from monitor.reports.consumers import ConsumerRow


class ProblemKind(StrEnum):
    """What can be wrong, worst first."""

    NO_WORKERS = "no workers"  # messages wait and no worker lives
    STALLED = "stalled"  # a backlog, nothing held, and nothing done for 2 minutes
    HELD_SESSION = "held session"
    HELD_CONSUMER = "held consumer"
    DEAD_LETTER = "dead letter"
    MISMATCH = "mismatch"
    STALE_FIGURES = "stale figures"  # the clock has not taken the snapshot: figures are old


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, with the verb that mends it.

    count: how many of its kind (held sessions, dead messages, mismatches). size: messages that
    wait because of it. subject: the session's key, the cause, the message's key, or "".
    verb: requeue (target: the dead message), requeue_cause (cause = subject, seen = up_to_version),
    resume (a session or a consumer), or open (only a page to look at).
    target_kind: message, session, consumer, cause, mismatch or system. seen: the version to name.
    """

    kind: ProblemKind
    consumer_id: int
    consumer: str
    subject: str
    title: str
    since: datetime | None
    count: int
    size: int
    verb: str
    target_kind: str
    target_id: int
    seen: int
    session_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over all consumers."""

    received_per_second: float
    done_per_second: float
    backlog: int
    parked: int
    held_sessions: int
    dead: int
    mismatches_open: int
    alerts_open: int
    duplicate_ratio: float | None
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The whole page; problems by impact (at most 20, `more` counts the rest)."""

    problems: tuple[Problem, ...]
    more: int
    consumers: tuple[ConsumerRow, ...]
    totals: Totals
    snapshot_at: datetime | None
    now: datetime


def read() -> Overview:
    """The figures of the Overview page."""
    raise NotImplementedError
