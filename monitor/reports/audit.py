"""Audit: who did which verb to what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.reports.page import LIMIT, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One act."""

    id: int
    at: datetime
    actor: str
    verb: str
    object_kind: str
    object_id: int
    reason: str
    detail: dict[str, Any]


def page(
    cursor: str | None = None,
    *,
    limit: int = LIMIT,
    actor: str | None = None,
    verb: str | None = None,
    thing: tuple[str, int] | None = None,
) -> Page[AuditRow]:
    """Acts, newest first. thing: (object kind, object id)."""
    raise NotImplementedError
