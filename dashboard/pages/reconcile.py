"""Reconcile: did the call to the outside happen, what speaks for it, and its verbs."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse

from dashboard import access, doubts, forms, render
from monitor.domain.actor import Permission
from monitor.operations.effects import expect_answers
from monitor.reports import consumers, effects

# Of evidence; the rest may hold what the payload holds.
_TOLD_TO_ALL = ("error", "note", "reason", "reference", "status")


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """Effects in doubt, those with evidence against their decision, or the settled ones."""
    expect_answers()
    wanted = forms.ListFilter.parse(request.GET, choices=effects.SHOWN)
    page = effects.page(wanted.cursor, show=wanted.choice, consumer=wanted.consumer)
    values = {
        "filter": wanted,
        "shown": effects.SHOWN,
        "consumers": consumers.names(),
        "page": page,
        "can_ask_many": sum(row.can_be_asked for row in page.rows) > 1,
    }
    return render.page(request, "reconcile/index", values)


@access.page
def detail(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """One effect: what is known, from whom, and what a person can do."""
    expect_answers()
    found = effects.detail(id)
    if found is None:
        raise Http404
    values = {
        "effect": found,
        "standing": doubts.standing(found.row),
        "shown_names": _TOLD_TO_ALL,
        "is_revealed": access.may(request, Permission.REVEAL_PAYLOAD),
    }
    return render.page(request, "reconcile/detail", values)
