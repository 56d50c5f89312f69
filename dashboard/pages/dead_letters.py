"""Dead letters: by cause, and one by one."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from dashboard import access, forms, render
from monitor.reports import consumers, dead_letters


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """The causes, and the dead messages newest first."""
    wanted = forms.DeadLetterFilter.parse(request.GET)
    values = {
        "filter": wanted,
        "consumers": consumers.names(),
        "group": dead_letters.group(wanted.cause) if wanted.cause else None,
        "groups": () if wanted.is_set else dead_letters.groups(),
        "page": dead_letters.page(
            wanted.cursor, consumer=wanted.consumer, cause=wanted.cause, session=wanted.session
        ),
    }
    return render.page(request, "dead_letters/index", values)


@access.page
def detail(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """A dead letter is a message: its page is the message's, also when it is dead no more."""
    return redirect("dashboard:messages_detail", id)
