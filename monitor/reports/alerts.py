"""Alerts: what a person should know."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from monitor.reports.page import LIMIT, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRow:
    """One alert. state: open, acknowledged or resolved. version: what acknowledge names.

    target: id of the mismatch, the dead message or the session that the kind speaks of.
    """

    id: int
    kind: str
    consumer_id: int
    consumer: str
    subject: str
    title: str
    target: int
    count: int
    first_at: datetime
    last_at: datetime
    state: str
    acknowledged_by: str
    acknowledged_at: datetime | None
    resolved_at: datetime | None
    version: int


def page(
    cursor: str | None = None,
    *,
    limit: int = LIMIT,
    state: str = "open",
    kind: str | None = None,
    consumer: int | None = None,
) -> Page[AlertRow]:
    """Alerts of one state, the latest first."""
    raise NotImplementedError


def detail(alert_id: int) -> AlertRow | None:
    """One alert, or None."""
    raise NotImplementedError


def open_count() -> int:
    """How many alerts are open, for the badge; 1,001 means more than 1,000."""
    raise NotImplementedError
