"""Mismatches: same key, other payload; what differs, and the verdict."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse

from dashboard import access, forms, render
from monitor.domain.actor import Permission
from monitor.reports import consumers, mismatches


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """Open or decided mismatches, newest first."""
    wanted = forms.ListFilter.parse(request.GET, choices=("open", "decided"))
    values = {
        "filter": wanted,
        "consumers": consumers.names(),
        "page": mismatches.page(
            wanted.cursor, decided=wanted.choice == "decided", consumer=wanted.consumer
        ),
    }
    return render.page(request, "mismatches/index", values)


@access.page
def detail(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """One mismatch: both payloads path by path, headers, verdicts."""
    found = mismatches.detail(id)
    if found is None:
        raise Http404
    is_revealed = access.may(request, Permission.REVEAL_PAYLOAD)
    values = {
        "mismatch": found,
        "is_revealed": is_revealed,
        "comparison": mismatches.comparison(id) if is_revealed else None,
    }
    return render.page(request, "mismatches/detail", values)
