"""Sessions: which is stuck, on what, and what waits behind it."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse

from dashboard import access, forms, render
from monitor.reports import consumers, sessions


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """Sessions with a backlog or a hold, the worst first."""
    wanted = forms.ListFilter.parse(request.GET, choices=("all", "blocked"))
    found = sessions.page(
        wanted.cursor, consumer=wanted.consumer, blocked=wanted.choice == "blocked"
    )
    values = {
        "filter": wanted,
        "page": found.page,
        "snapshot_at": found.snapshot_at,
        "consumers": consumers.names(),
    }
    return render.page(request, "sessions/index", values)


@access.page
def detail(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """One session: its messages as a train, the blocker marked."""
    found = sessions.detail(id)
    if found is None:
        raise Http404
    return render.page(request, "sessions/detail", {"session": found})
