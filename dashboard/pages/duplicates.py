"""Duplicates: how much redelivery, from whom, and whether keys are kept long enough."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from dashboard import access, duplicate_charts, forms, render, sentences
from monitor.reports import consumers, duplicates


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """Rate over time, gaps against the retention, the keys that come most."""
    wanted = forms.ListFilter.parse(request.GET, choices=("cause", "consumer"))
    minutes = forms.window(request.GET)
    figures = duplicates.read(minutes=minutes, consumer=wanted.consumer)
    values = {
        "filter": wanted,
        "minutes": minutes,
        "windows": [(each, _("%(hours)s h") % {"hours": each // 60}) for each in forms.MINUTES],
        "consumers": consumers.names(),
        "figures": figures,
        "rate": duplicate_charts.rate(figures, by=wanted.choice),
        "gaps": duplicate_charts.gaps(figures),
        "producers": [(each, sentences.likely_cause(each)) for each in figures.producers],
    }
    return render.page(request, "duplicates/index", values)
