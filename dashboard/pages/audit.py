"""Audit: who did which verb to what."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from dashboard import access, forms, render
from monitor.reports import audit
from monitor.reports.audit import AuditRow

_PAGES = {"message", "session", "consumer", "mismatch", "alert", "bulk"}
_NOUNS = {"mismatch": "mismatches", "bulk": "requeues"}
VERBS = (
    *("requeue", "requeue many", "go on", "stop", "discard", "restore", "replay"),
    *("hold", "resume", "skip gap", "skip head", "steal", "keep first", "accept second"),
    *("reconcile", "mark done", "mark not done", "escalate", "acknowledge", "export", "reveal"),
    *("take", "give", "note", "snooze", "wake"),
)


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """Acts, newest first."""
    wanted = forms.AuditFilter.parse(request.GET)
    found = audit.page(
        wanted.cursor,
        actor=wanted.actor,
        verb=wanted.verb,
        thing=wanted.thing,
        since=wanted.since,
        until=wanted.until,
    )
    values = {
        "filter": wanted,
        "verbs": VERBS,
        "page": found,
        "rows": [(row, _thing(row)) for row in found.rows],
    }
    return render.page(request, "audit/index", values)


def _thing(row: AuditRow) -> str:
    """The page of the thing, or "" where there is none."""
    if row.object_kind == "triage":
        return reverse("dashboard:triage_detail", args=[row.detail["alert"]])
    if row.object_kind not in _PAGES or row.object_id < 0:
        return ""
    noun = _NOUNS.get(row.object_kind, f"{row.object_kind}s")
    return reverse(f"dashboard:{noun}_detail", args=[row.object_id])
