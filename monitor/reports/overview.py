"""Overview: is anything wrong, where, since when, and what next."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from monitor.reports import alerts, consumers, counters, problems, system
from monitor.reports.consumers import ConsumerRow
from monitor.reports.problems import Problem, ProblemKind
from monitor.reports.reading import reading
from monitor.reports.system import Durability

__all__ = ["Overview", "Problem", "ProblemKind", "Totals", "read"]

_MOST_PROBLEMS = 20
_MOST_ALERTS = 10_001  # counted for the overview; 10,001 means more


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
    in_doubt: int
    alerts_open: int  # 10,001 means more than 10,000
    duplicate_ratio: float | None
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The whole page; problems by impact (at most 20, `more` counts the rest)."""

    problems: tuple[Problem, ...]
    more: int
    consumers: tuple[ConsumerRow, ...]
    totals: Totals
    durability: Durability
    snapshot_at: datetime | None
    now: datetime = field(repr=False)  # so that equal figures have equal texts


def read() -> Overview:
    """The figures of the Overview page."""
    with reading() as cursor:
        now = counters.now(cursor)
        rows = consumers.rows(cursor, now)
        workers = system.live_workers(cursor)
        snapshot_at = consumers.snapshot_at(cursor)
        found = problems.find(cursor, rows, now=now, workers=workers, snapshot_at=snapshot_at)
        alerts_open = sum(alerts.open_by_kind(cursor, cap=_MOST_ALERTS).values())
        durability = system.durability(cursor)
    return Overview(
        problems=tuple(found[:_MOST_PROBLEMS]),
        more=max(0, len(found) - _MOST_PROBLEMS),
        consumers=rows,
        totals=_totals(rows, workers=workers, alerts_open=alerts_open),
        durability=durability,
        snapshot_at=snapshot_at,
        now=now,
    )


def _totals(rows: tuple[ConsumerRow, ...], *, workers: int, alerts_open: int) -> Totals:
    received = sum(sum(row.received_series) for row in rows)
    again = sum((row.duplicate_ratio or 0) * sum(row.received_series) for row in rows)
    return Totals(
        received_per_second=sum(row.received_per_second for row in rows),
        done_per_second=sum(row.done_per_second for row in rows),
        backlog=sum(row.backlog for row in rows),
        parked=sum(row.parked for row in rows),
        held_sessions=sum(row.held_sessions for row in rows),
        dead=sum(row.dead for row in rows),
        mismatches_open=sum(row.mismatches_open for row in rows),
        in_doubt=sum(row.in_doubt for row in rows),
        alerts_open=alerts_open,
        duplicate_ratio=again / received if received else None,
        workers=workers,
    )
