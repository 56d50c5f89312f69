"""Mismatches: same key, other payload; what differs and who sent it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from monitor.domain.states import State
from monitor.reports.page import LIMIT, Page
from monitor.reports.payloads import PayloadView


@dataclass(frozen=True, slots=True, kw_only=True)
class MismatchRow:
    """A mismatch. verdict None: open. version: what the verdicts name."""

    id: int
    message_id: int
    consumer_id: int
    consumer: str
    key: str
    origin: str
    type: str
    session_id: int | None
    session: str
    count: int
    first_at: datetime
    last_at: datetime
    verdict: str | None
    verdict_by: str
    verdict_at: datetime | None
    verdict_reason: str
    accepted_id: int | None
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderPair:
    """A header of both deliveries; None where one has it not."""

    name: str
    first: str | None
    second: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MismatchDetail:
    """A mismatch with the producers' headers, but without the payloads."""

    row: MismatchRow
    first_state: State | None
    first_received_at: datetime | None
    gap_seconds: float | None
    first_fingerprint: str
    second_fingerprint: str
    first_content_type: str
    second_content_type: str
    headers: tuple[HeaderPair, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRow:
    """One path that differs. kind: added (only second), removed (only first) or changed."""

    path: str
    first: str | None
    second: str | None
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """What differs. equal: how many other values are the same. more: rows beyond those given.

    how: json (structure), text (line by line) or bytes (only that they differ).
    """

    how: str
    rows: tuple[DiffRow, ...]
    equal: int
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Both payloads and their difference; show it to revealers only. first None: it was purged."""

    diff: Diff | None
    first: PayloadView | None
    second: PayloadView


def page(
    cursor: str | None = None,
    *,
    limit: int = LIMIT,
    decided: bool = False,
    consumer: int | None = None,
) -> Page[MismatchRow]:
    """Open (or decided) mismatches, newest first."""
    raise NotImplementedError


def detail(mismatch_id: int) -> MismatchDetail | None:
    """One mismatch without its payloads, or None."""
    raise NotImplementedError


def comparison(mismatch_id: int) -> Comparison | None:
    """Both payloads side by side, or None."""
    raise NotImplementedError
