"""Overview: is anything wrong, where, since when, and what next."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from dashboard import access, render, sentences
from dashboard.consumer_rows import with_sparks
from monitor.reports import overview


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """The verdict, the problems by impact and the board of consumers."""
    figures = overview.read()
    values = {
        "overview": figures,
        "verdict": sentences.verdict(figures),
        "problems": [(one, sentences.problem(one)) for one in figures.problems],
        "consumers": with_sparks(figures.consumers),
    }
    return render.page(request, "overview/index", values)
