"""Requeues of many: the plan before, and each one on its way."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse

from dashboard import access, command_lines, forms, progress, render
from monitor.domain.scope import MOST
from monitor.operations import bulk
from monitor.reports import dead_letters, requeues

PACES = (1, 10, 100)  # a second; or as fast as it goes


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """All that there were, newest first."""
    found = requeues.page(request.GET.get("page"))
    rows = [(row, progress.standing(row)) for row in found.rows]
    return render.page(request, "requeues/index", {"page": found, "rows": rows})


@access.page
def detail(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """One of them: how far it is, and what did not go well."""
    found = requeues.detail(id)
    if found is None:
        raise Http404
    values = {"found": found, "row": found.row, "standing": progress.standing(found.row)}
    return render.page(request, "requeues/detail", values)


@access.page
def plan(request: HttpRequest) -> HttpResponse:
    """What a requeue of the dead letters of a filter would touch."""
    wanted = forms.DeadLetterFilter.parse(request.GET)
    found = requeues.plan(cause=wanted.cause, consumer=wanted.consumer, session=wanted.session)
    values = {
        "filter": wanted,
        "plan": found,
        "commands": command_lines.of_plan(wanted, found, access.actor(request)),
        "group": dead_letters.group(wanted.cause) if wanted.cause else None,
        "most": MOST,
        "paces": PACES,
        "most_failing": round(bulk.FAILURE_LIMIT * 100),
    }
    return render.page(request, "requeues/plan", values)
