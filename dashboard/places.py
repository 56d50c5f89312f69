"""Where things are looked at: the page of what an alert speaks of."""

from __future__ import annotations

from django.urls import reverse

from monitor.domain.states import AlertKind

_PAGES = {
    AlertKind.MISMATCH: "dashboard:mismatches_detail",
    AlertKind.HELD_SESSION: "dashboard:sessions_detail",
    AlertKind.EFFECT_IN_DOUBT: "dashboard:reconcile_detail",
    AlertKind.CONFLICT: "dashboard:reconcile_detail",
    AlertKind.GAP: "dashboard:sessions_detail",
    AlertKind.THROTTLED_CONSUMER: "dashboard:consumers_detail",
}


def of_alert(kind: str, alert_id: int, target: int) -> str:
    """The page where it can be mended: for dead letters, their group."""
    if kind == AlertKind.DEAD_LETTER:
        return reverse("dashboard:triage_detail", args=[alert_id])
    return reverse(_PAGES[AlertKind(kind)], args=[target])
