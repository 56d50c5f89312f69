"""Alerts: what a person should know."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from dashboard import access, forms, places, render
from monitor.domain.triage import KINDS
from monitor.reports import alerts, consumers
from monitor.reports.alerts import AlertRow


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """Alerts of one state, the latest first."""
    wanted = forms.ListFilter.parse(request.GET, choices=forms.ALERT_STATES)
    found = alerts.page(wanted.cursor, state=wanted.choice, consumer=wanted.consumer)
    values = {
        "filter": wanted,
        "states": forms.ALERT_STATES,
        "consumers": consumers.names(),
        "page": found,
        "rows": [(row, _target(row)) for row in found.rows],
        "grouped": KINDS,
    }
    return render.page(request, "alerts/index", values)


@access.page
def detail(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """An alert's own page is the page of what it speaks of."""
    found = alerts.detail(id)
    if found is None:
        raise Http404
    return redirect(_target(found))


def _target(row: AlertRow) -> str:
    return places.of_alert(row.kind, row.id, row.target)
