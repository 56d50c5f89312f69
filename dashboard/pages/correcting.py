"""The page on which the text of a dead message is corrected."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse

from dashboard import access, editing
from monitor.reports import corrections


@access.page
def editor(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """The current text in a box, and what runs next when it is replayed."""
    found = corrections.current(id)
    if found is None:
        raise Http404
    return editing.page(request, found, id)
