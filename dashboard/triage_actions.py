"""One POST view for each verb on groups; what is allowed and what happens: see operations."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from dashboard import access, forms, picking, triage_forms
from dashboard.answering import answer
from monitor.operations import triage


@access.verb
def triage_take(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Look after a group oneself."""
    return answer(
        request, lambda: triage.take(access.actor(request), id, seen=triage_forms.seen(request))
    )


@access.verb
def triage_take_picked(request: HttpRequest) -> HttpResponse:
    """Look after the groups that were ticked, each as it was seen; one refusal stops no other."""
    picked = forms.picked(request)
    return answer(request, lambda: picking.take(access.actor(request), picked))


@access.verb
def triage_give(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Give a group to somebody, or to nobody."""
    owner = triage_forms.text(request, "owner")
    return answer(
        request,
        lambda: triage.give(
            access.actor(request), id, seen=triage_forms.seen(request), owner=owner
        ),
    )


@access.verb
def triage_note(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Replace the note of a group."""
    note = triage_forms.text(request, "note")
    return answer(
        request,
        lambda: triage.write_note(
            access.actor(request), id, seen=triage_forms.seen(request), note=note
        ),
    )


@access.verb
def triage_snooze(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Let a group sleep until a time."""
    until = triage_forms.until(request)
    return answer(
        request,
        lambda: triage.snooze(
            access.actor(request), id, seen=triage_forms.seen(request), until=until
        ),
    )


@access.verb
def triage_wake(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """End the snooze of a group."""
    return answer(
        request, lambda: triage.wake(access.actor(request), id, seen=triage_forms.seen(request))
    )
