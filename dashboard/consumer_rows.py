"""Consumers as rows of a table, each with its line of the last hour."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _

from dashboard import charts, words
from dashboard.charts import Spark
from monitor.reports.consumers import ConsumerRow


def with_sparks(rows: Iterable[ConsumerRow]) -> list[tuple[ConsumerRow, Spark | None]]:
    """Each row with the line of what it did in the last hour."""
    return [(row, spark(row)) for row in rows]


def spark(row: ConsumerRow) -> Spark | None:
    """What a consumer did per minute in the last hour; None when it did nothing."""
    # The current minute is not over: it would draw a fall that is none.
    whole_minutes = row.done_series[:-1]
    title = _("done per minute in the last hour: now %(now)s, most %(most)s") % {
        "now": words.number(whole_minutes[-1] if whole_minutes else 0),
        "most": words.number(max(whole_minutes, default=0)),
    }
    return charts.spark(whole_minutes, title)
