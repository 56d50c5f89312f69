"""Duplicates: how much redelivery, from whom, and whether keys are kept long enough."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from dashboard import access, duplicate_charts, forms, labels, render, sentences, words
from monitor.reports import consumers, duplicates

_WAYS = ("cause", "consumer", "origin", "type")


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """Rate over time, gaps against the retention, the keys that come most."""
    wanted = forms.ListFilter.parse(request.GET, choices=_WAYS)
    minutes = forms.window(request.GET)
    figures = duplicates.read(minutes=minutes, consumer=wanted.consumer)
    found = duplicates.rates(figures, by=wanted.choice)
    values = {
        "filter": wanted,
        "minutes": minutes,
        "windows": [(each, _("%(hours)s h") % {"hours": each // 60}) for each in forms.MINUTES],
        "consumers": consumers.names(),
        "figures": figures,
        "rate": duplicate_charts.rate(figures, by=wanted.choice),
        "gaps": duplicate_charts.gaps(figures),
        "ways": _WAYS,
        "rates": [(each, _name(each.name, wanted.choice)) for each in found],
        "producers": [(each, sentences.likely_cause(each)) for each in figures.producers],
    }
    return render.page(request, "duplicates/index", values)


def _name(name: str, way: str) -> str:
    """A cause in its words, and what others named so that it can be seen."""
    return labels.cause(name) if way == "cause" else words.visible(name) or "—"
