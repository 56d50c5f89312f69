"""Alerts: what a person should know."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from dashboard import access, forms, render
from monitor.domain.states import AlertKind
from monitor.reports import alerts, consumers
from monitor.reports.alerts import AlertRow

_PAGES = {
    AlertKind.MISMATCH: "dashboard:mismatches_detail",
    AlertKind.HELD_SESSION: "dashboard:sessions_detail",
    AlertKind.EFFECT_IN_DOUBT: "dashboard:reconcile_detail",
    AlertKind.CONFLICT: "dashboard:reconcile_detail",
    AlertKind.GAP: "dashboard:sessions_detail",
    AlertKind.THROTTLED_CONSUMER: "dashboard:consumers_detail",
}


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
    """Where the alert can be mended."""
    if row.kind == AlertKind.DEAD_LETTER:
        return f"{reverse('dashboard:dead_letters')}{forms.link(cause=row.subject)}"
    return reverse(_PAGES[AlertKind(row.kind)], args=[row.target])
