"""Sessions: which is stuck, on what, and what waits behind it."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse

from dashboard import access, forms, previews, render, trains
from dashboard.previews import Told
from monitor.reports import consumers, preview, sessions
from monitor.reports.preview import Previews
from monitor.reports.sessions import SessionRow


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """Sessions with a backlog or a hold, the worst first."""
    wanted = forms.ListFilter.parse(request.GET, choices=("all", "blocked"))
    found = sessions.page(
        wanted.cursor, consumer=wanted.consumer, blocked=wanted.choice == "blocked"
    )
    stopped = [
        (row.id, row.consumer_id)
        for row in found.page.rows
        if row.blocker in ("dead head", "retry", "gap")
    ]
    ahead = preview.of_sessions(stopped)
    values = {
        "filter": wanted,
        "page": found.page,
        "rows": [(row, _skip(row, ahead.get(row.id))) for row in found.page.rows],
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
    ahead = preview.of_session(id, found.consumer_id)
    train = trains.cars(found)
    values = {
        "session": found,
        "ahead": ahead,
        "previews": previews.of_session(ahead),
        "train": train,
        "states": trains.states(train),
        "has_gaps": any(car.missing for car in train),
    }
    return render.page(request, "sessions/detail", values)


def _skip(row: SessionRow, ahead: Previews | None) -> Told | None:
    """What skipping would do to a session of the list; None where there is nothing to skip."""
    found = ahead and (ahead.skip_gap if row.blocker == "gap" else ahead.skip_head)
    return previews.told("", found) if found else None
