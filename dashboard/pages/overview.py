"""Overview: is anything wrong, where, since when, and what next."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from dashboard import access, growth, render, sentences, trend_charts
from dashboard.consumer_rows import with_sparks
from dashboard.keeping import keeping
from monitor.operations.effects import expect_answers
from monitor.reports import consumers, overview
from monitor.reports.overview import ProblemKind


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """The verdict, the problems by impact, the board of consumers and the large charts."""
    if render.wants_piece(request, "trends"):
        return render.piece(request, "shared/_trends", {"trends": trend_charts.shown(request)})
    figures = overview.read()
    if any(one.kind is ProblemKind.IN_DOUBT for one in figures.problems):
        expect_answers()
    values = {
        "overview": figures,
        "verdict": sentences.verdict(figures),
        "keeping": keeping(figures.durability),
        "problems": [(one, sentences.problem(one), growth.trend(one)) for one in figures.problems],
        "consumers": with_sparks(figures.consumers),
        "most": consumers.CAP,
        "trends": None if render.wants_piece(request) else trend_charts.shown(request),
    }
    return render.page(request, "overview/index", values)
