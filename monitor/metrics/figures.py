"""The figures of one scrape, read through the reports in one go, and kept for a moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from time import monotonic

from django.db import Error

from monitor.reports import alerts, consumers, counters, system
from monitor.reports.consumers import ConsumerRow
from monitor.reports.counters import Total
from monitor.reports.errors import ReportTimeoutError
from monitor.reports.reading import reading

KEPT_SECONDS = 1.0  # many scrapers cost one reading
STALE_SECONDS = 300.0  # figures that cannot be renewed: absent is better than frozen
_MOST_ALERTS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """All that is exported, of one moment."""

    totals: tuple[Total, ...]
    consumers: tuple[ConsumerRow, ...]
    names: dict[int, str]
    alerts_open: dict[str, int]
    workers: int
    dedup_records: int | None
    snapshot_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The newest figures (None: none, or too old), and how the latest attempt to read them went."""

    figures: Figures | None
    is_database_up: bool
    errors: int


def read() -> Figures:
    """Read every figure. Raises django.db.Error or ReportTimeoutError."""
    with reading() as cursor:
        return Figures(
            totals=tuple(counters.totals(cursor)),
            consumers=consumers.rows(cursor, counters.now(cursor)),
            names=dict(consumers.names_of(cursor)),
            alerts_open=alerts.open_by_kind(cursor, cap=_MOST_ALERTS),
            workers=system.live_workers(cursor),
            dedup_records=system.dedup_records(cursor),
            snapshot_at=consumers.snapshot_at(cursor),
        )


class Cache:
    """Keeps figures for a second; of many threads that find them old, one reads for all."""

    def __init__(self, source: Callable[[], Figures] = read) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._figures: Figures | None = None
        self._read_at = float("-inf")
        self._tried_at = float("-inf")
        self._is_database_up = False
        self._errors = 0

    def get(self) -> Reading:
        """The figures, read again when older than a second. A database that is away is no error."""
        with self._lock:
            if monotonic() - self._tried_at >= KEPT_SECONDS:
                self._renew()
            is_stale = monotonic() - self._read_at > STALE_SECONDS
            return Reading(
                figures=None if is_stale else self._figures,
                is_database_up=self._is_database_up,
                errors=self._errors,
            )

    def _renew(self) -> None:
        try:
            self._figures = self._source()
            self._read_at = monotonic()
            self._is_database_up = True
        except ReportTimeoutError:
            self._errors += 1  # slow, but there
            self._is_database_up = True
        except Error:
            self._errors += 1
            self._is_database_up = False
        # After the reading: a slow one must not be followed at once by the next.
        self._tried_at = monotonic()
