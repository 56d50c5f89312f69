"""The three large charts: throughput, time in handlers, duplicates and failures.

One axis for all. The server's picture, the table and what the script draws come from one trend.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard import curves, happened, trend_sentences, words
from dashboard.charts import Tick
from dashboard.curves import Axis, Scale
from dashboard.happened import Happening, Mark
from monitor.reports import annotation, trends
from monitor.reports.annotation import Annotations
from monitor.reports.trends import RANGES, Known, Trend

_REFRESH_SECONDS = {"60m": 5, "6h": 15, "24h": 30, "7d": 60}
_LEAST_RATE = 0.1  # a second; the axis of a chart of nothing ends here
_LEAST_SHARE = 0.01
_DIGITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One series: its place decides colour and dashes."""

    place: int
    name: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendChart:
    """One chart: sentence, lines, axes and table. note: what is measured, in words."""

    key: str
    title: str
    note: str
    sentence: str
    lines: tuple[Line, ...]
    y_ticks: tuple[Tick, ...]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trends:
    """The charts with what they share. data: what the script draws, as JSON.

    running: left end and width of the bin that is not over. refresh_seconds: how often it is read.
    """

    charts: tuple[TrendChart, ...]
    ranges: tuple[tuple[str, str, bool], ...]  # name, words, whether it is shown
    x_ticks: tuple[Tick, ...]
    running: tuple[str, str]
    marks: tuple[Mark, ...]
    happened: tuple[Happening, ...]
    more_happened: bool
    refresh_seconds: int
    data: dict[str, Any]
    width: int = curves.WIDTH
    height: int = curves.HEIGHT
    left: int = curves.LEFT
    right: int = curves.WIDTH - curves.RIGHT
    top: int = curves.TOP
    bottom: int = curves.HEIGHT - curves.BOTTOM
    tall: int = curves.HEIGHT - curves.BOTTOM - curves.TOP


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """A chart before it is drawn: names and values of its series, and words for one value."""

    key: str
    title: str
    note: str
    sentence: str
    series: tuple[tuple[str, Known], ...]
    scale: Scale
    word: Callable[[float], str]


def shown(request: HttpRequest, consumer: int | None = None) -> Trends:
    """The charts of the range in the address (an hour without one): of all, or of one consumer."""
    name = request.GET.get("range")
    range_ = next((each for each in RANGES if each.name == name), RANGES[0])
    trend = trends.read(range_, consumer=consumer)
    return of(trend, annotation.since(trend.starts[0], consumer=consumer))


def of(trend: Trend, acts: Annotations) -> Trends:
    """The charts of a trend with what happened meanwhile."""
    axis = Axis(since=trend.starts[0], until=trend.until, seconds=trend.range.seconds)
    rows = happened.told(acts.found)
    texts = happened.by_bin(rows, axis)
    plans = (_throughput(trend), _durations(trend), _shares(trend))
    left = axis.x(trend.starts[-1])
    names = {"60m": _("60 min"), "6h": _("6 h"), "24h": _("24 h"), "7d": _("7 d")}
    return Trends(
        charts=tuple(_chart(plan, trend, axis, texts) for plan in plans),
        ranges=tuple((each.name, names[each.name], each is trend.range) for each in RANGES),
        x_ticks=axis.ticks(),
        running=(curves.plain(left), curves.plain(axis.x(trend.until) - left)),
        marks=tuple(happened.marks(rows, axis)),
        happened=tuple(reversed(rows)),
        more_happened=acts.more,
        refresh_seconds=_REFRESH_SECONDS[trend.range.name],
        data=_data(plans, trend),
    )


def _throughput(trend: Trend) -> _Plan:
    series = ((_("in"), trend.received), (_("done"), trend.done))
    return _Plan(
        key="throughput",
        title=_("Throughput"),
        note=_("messages a second"),
        sentence=trend_sentences.throughput(trend),
        series=series,
        scale=Scale.linear(_known(series), least=_LEAST_RATE),
        word=_rate,
    )


def _durations(trend: Trend) -> _Plan:
    series = (("p50", trend.p50), ("p95", trend.p95), ("p99", trend.p99))
    return _Plan(
        key="durations",
        title=_("Time in handlers"),
        note=_("of a run at most, without the wait before it; powers of ten"),
        sentence=trend_sentences.durations(trend),
        series=series,
        scale=Scale.logarithmic(_known(series), least=1.0),
        word=_duration,
    )


def _shares(trend: Trend) -> _Plan:
    series = ((_("duplicates"), trend.duplicates), (_("failures"), trend.failures))
    return _Plan(
        key="shares",
        title=_("Duplicates and failures"),
        note=_("share of the deliveries, and of the ended runs"),
        sentence=trend_sentences.shares(trend),
        series=series,
        scale=Scale.linear(_known(series), least=_LEAST_SHARE),
        word=words.percent,
    )


def _chart(plan: _Plan, trend: Trend, axis: Axis, texts: Mapping[int, str]) -> TrendChart:
    lines = tuple(
        Line(place=place, name=name, path=curves.path(values, trend.starts, axis, plan.scale))
        for place, (name, values) in enumerate(plan.series)
    )
    zone = timezone.get_current_timezone_name()
    head = (_("from (%(zone)s)") % {"zone": zone}, *(name for name, _values in plan.series))
    return TrendChart(
        key=plan.key,
        title=plan.title,
        note=plan.note,
        sentence=plan.sentence,
        lines=lines,
        y_ticks=plan.scale.ticks(plan.word),
        head=(*head, _("what happened")) if texts else head,
        rows=_rows(plan, trend, texts),
    )


def _rows(plan: _Plan, trend: Trend, texts: Mapping[int, str]) -> tuple[tuple[str, ...], ...]:
    found = []
    for at, start in enumerate(trend.starts):
        values = (values[at] for _name, values in plan.series)
        cells = ["—" if value is None else plan.word(value) for value in values]
        label = _moment(start, trend)
        if at == len(trend.starts) - 1:
            label = _("%(at)s, not over yet") % {"at": label}
        found.append((label, *cells, *([texts.get(at, "")] if texts else [])))
    return tuple(found)


def _data(plans: Sequence[_Plan], trend: Trend) -> dict[str, Any]:
    half = timedelta(seconds=trend.range.seconds / 2)
    return {
        "since": trend.starts[0].timestamp(),
        "until": trend.until.timestamp(),
        "running": trend.starts[-1].timestamp(),
        "zone": timezone.get_current_timezone_name(),
        "at": [(start + half).timestamp() for start in trend.starts],
        "charts": {
            plan.key: {
                "isLog": plan.scale.is_log,
                "ticks": [[_digits(value), plan.word(value)] for value in plan.scale.rounds()],
                "values": [
                    [None if value is None else _digits(value) for value in values]
                    for _name, values in plan.series
                ],
            }
            for plan in plans
        },
    }


def _known(series: Sequence[tuple[str, Known]]) -> list[float]:
    return [value for _name, values in series for value in values if value is not None]


def _moment(start: datetime, trend: Trend) -> str:
    local = timezone.localtime(start)
    is_today = local.date() == timezone.localtime(trend.now).date()
    return f"{local:%H:%M}" if is_today else f"{local:%Y-%m-%d %H:%M}"


def _rate(value: float) -> str:
    return words.number(value, 2) if 0 < value < 1 else words.rate(value)


def _duration(value: float) -> str:
    return words.milliseconds(value) if math.isfinite(value) else _("> 60 s")


def _digits(value: float) -> float:
    """As many digits as anybody can see; what is beyond the last bucket stands at its top."""
    return float(f"{min(value, 1e6):.{_DIGITS}g}")
