"""Consumers: is each keeping up, and with what policy."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse

from dashboard import access, policies, render
from dashboard.consumer_rows import spark, with_sparks
from monitor.reports import consumers


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """All consumers, by name."""
    values = {"consumers": with_sparks(consumers.every()), "most": consumers.CAP}
    return render.page(request, "consumers/index", values)


@access.page
def detail(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """One consumer: figures, policy, and who holds it."""
    found = consumers.detail(id)
    if found is None:
        raise Http404
    values = {
        "consumer": found,
        "spark": spark(found.row),
        "policy": policies.told(found.policy),
        "most": consumers.CAP,
    }
    return render.page(request, "consumers/detail", values)
