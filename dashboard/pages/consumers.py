"""Consumers: is each keeping up, and with what policy."""

from __future__ import annotations

from datetime import timedelta

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from dashboard import access, policies, render, trend_charts
from dashboard.consumer_rows import spark, with_sparks
from monitor.reports import consumer_work, consumers, dead_letters

_TYPES_OF = timedelta(hours=24)
_MOST_GROUPS = 5


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """All consumers, by name."""
    values = {"consumers": with_sparks(consumers.every()), "most": consumers.CAP}
    return render.page(request, "consumers/index", values)


@access.page
def detail(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """One consumer: figures, who works on it, what takes its time, its errors and its policy."""
    if render.wants_piece(request, "trends"):
        return render.piece(request, "shared/_trends", {"trends": trend_charts.shown(request, id)})
    found = consumers.detail(id)
    if found is None:
        raise Http404
    groups = dead_letters.groups(consumer=id)
    values = {
        "consumer": found,
        "spark": spark(found.row),
        "policy": policies.told(found.policy),
        "most": consumers.CAP,
        "workers": consumer_work.workers(id),
        "types": consumer_work.types(id, since=timezone.now() - _TYPES_OF),
        "groups": groups[:_MOST_GROUPS],
        "more_causes": max(0, len(groups) - _MOST_GROUPS),
        "trends": None if render.wants_piece(request) else trend_charts.shown(request, id),
    }
    return render.page(request, "consumers/detail", values)
