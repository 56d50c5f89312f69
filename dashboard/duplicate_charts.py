"""The two charts of the Duplicates page: rate over time and gaps against the retention."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard import charts, labels, sentences, words
from dashboard.charts import Chart
from monitor.reports.duplicates import Duplicates

_MOST_SERIES = 4
_MOST_BARS = 72


def rate(figures: Duplicates, *, by: str) -> Chart:
    """Duplicates over time, stacked by cause, consumer, origin or type."""
    named = sorted(_named(figures, by), key=lambda pair: pair[0])
    groups = {
        name: _add([values for _name, values in pairs])
        for name, pairs in groupby(named, key=lambda pair: pair[0])
    }
    groups = {name: values for name, values in groups.items() if any(values)}
    largest = sorted(groups, key=lambda name: -sum(groups[name]))
    shown = [
        charts.Series(name=words.visible(name), values=groups[name])
        for name in largest[:_MOST_SERIES]
    ]
    rest = [groups[name] for name in largest[_MOST_SERIES:]]
    if rest:
        shown[-1] = charts.Series(name=_("others"), values=_add([shown[-1].values, *rest]))
    width = max(1, -(-len(figures.minutes) // _MOST_BARS))
    times = [f"{timezone.localtime(at):%H:%M}" for at in figures.minutes][::width]
    merged = [charts.Series(name=one.name, values=_merge(one.values, width)) for one in shown]
    sentence = sentences.duplicates(figures)
    if by in ("origin", "type") and figures.sampled_since > figures.minutes[0]:
        sentence = f"{sentence} {sentences.sampled(figures)}"
    return charts.stacked(merged, times, sentence=sentence, first_head=_("from"))


def gaps(figures: Duplicates) -> Chart | None:
    """How long after the first a duplicate came, with the line where its key would be gone."""
    if not figures.gaps_sampled:
        return None
    bounds = [bucket.up_to_seconds for bucket in figures.gaps]
    spans = ["≤ " + words.duration(bound) if bound is not None else _("more") for bound in bounds]
    kept = figures.retention_seconds
    place = next((at for at, bound in enumerate(bounds) if bound is None or bound > kept), None)
    text = _("keys kept %(span)s") % {"span": words.duration(kept)}
    return charts.histogram(
        [bucket.count for bucket in figures.gaps],
        spans,
        sentence=sentences.gaps(figures),
        heads=(_("gap"), _("duplicates")),
        marker=(len(bounds) if place is None else place, text),
    )


def _named(figures: Duplicates, by: str) -> list[tuple[str, tuple[float, ...]]]:
    """What is stacked: a name and its duplicates per minute, a name possibly several times."""
    if by in ("origin", "type"):
        return [(one.origin if by == "origin" else one.type, one.again) for one in figures.sent]
    if by == "consumer":
        return [(one.consumer, one.values) for one in figures.series]
    return [(labels.cause(one.cause), one.values) for one in figures.series]


def _add(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(sum(column) for column in zip(*rows, strict=True))


def _merge(values: Sequence[float], width: int) -> tuple[float, ...]:
    return tuple(sum(values[at : at + width]) for at in range(0, len(values), width))
