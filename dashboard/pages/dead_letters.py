"""Dead letters: by cause, and one by one."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from dashboard import access, forms, render
from monitor.reports import consumers, dead_letters, triage
from monitor.reports.triage import Group


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """The causes, and the dead messages newest first. A cause of one consumer has its own page."""
    wanted = forms.DeadLetterFilter.parse(request.GET)
    groups = _groups(wanted)
    if len(groups) == 1 and wanted.session is None:
        return redirect("dashboard:triage_detail", groups[0].id)
    values = {
        "filter": wanted,
        "consumers": consumers.names(),
        "groups_of_cause": groups,
        "groups": () if wanted.is_set else dead_letters.groups(),
        "page": dead_letters.page(
            wanted.cursor, consumer=wanted.consumer, cause=wanted.cause, session=wanted.session
        ),
    }
    return render.page(request, "dead_letters/index", values)


def _groups(wanted: forms.DeadLetterFilter) -> list[Group]:
    """The groups of the cause that the filter names: one for each consumer that it lets through."""
    if not wanted.cause:
        return []
    found = triage.of_cause(wanted.cause)
    return [each for each in found if wanted.consumer in (None, each.consumer_id)]


@access.page
def detail(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """A dead letter is a message: its page is the message's, also when it is dead no more."""
    return redirect("dashboard:messages_detail", id)
