"""The two charts of the Duplicates page: rate over time and gaps against the retention."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard import charts, sentences, words
from dashboard.charts import Chart
from monitor.reports.duplicates import Duplicates
from monitor.reports.duplicates import Series as Counted

_MOST_SERIES = 4
_MOST_BARS = 72


def rate(figures: Duplicates, *, by: str) -> Chart:
    """Duplicates over time, stacked by cause or by consumer."""
    named = sorted(
        ((one.cause if by == "cause" else one.consumer, one) for one in figures.series),
        key=lambda pair: pair[0],
    )
    groups = {
        name: _sum([one for _name, one in pairs])
        for name, pairs in groupby(named, key=lambda pair: pair[0])
    }
    largest = sorted(groups, key=lambda name: -sum(groups[name]))
    shown = [
        charts.Series(name=words.visible(name), values=groups[name])
        for name in largest[:_MOST_SERIES]
    ]
    rest = [groups[name] for name in largest[_MOST_SERIES:]]
    if rest:
        shown[-1] = charts.Series(name=_("others"), values=_add([shown[-1].values, *rest]))
    width = max(1, -(-len(figures.minutes) // _MOST_BARS))
    labels = [f"{timezone.localtime(at):%H:%M}" for at in figures.minutes][::width]
    merged = [charts.Series(name=one.name, values=_merge(one.values, width)) for one in shown]
    sentence = sentences.duplicates(figures)
    return charts.stacked(merged, labels, sentence=sentence, first_head=_("from"))


def gaps(figures: Duplicates) -> Chart | None:
    """How long after the first a duplicate came, with the line where its key would be gone."""
    if not figures.gaps_sampled:
        return None
    bounds = [bucket.up_to_seconds for bucket in figures.gaps]
    labels = ["≤ " + words.duration(bound) if bound is not None else _("more") for bound in bounds]
    kept = figures.retention_seconds
    place = next((at for at, bound in enumerate(bounds) if bound is None or bound > kept), None)
    text = _("keys kept %(span)s") % {"span": words.duration(kept)}
    return charts.histogram(
        [bucket.count for bucket in figures.gaps],
        labels,
        sentence=sentences.gaps(figures),
        heads=(_("gap"), _("duplicates")),
        marker=(len(bounds) if place is None else place, text),
    )


def _sum(series: Sequence[Counted]) -> tuple[float, ...]:
    return _add([one.values for one in series])


def _add(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(sum(column) for column in zip(*rows, strict=True))


def _merge(values: Sequence[float], width: int) -> tuple[float, ...]:
    return tuple(sum(values[at : at + width]) for at in range(0, len(values), width))
