"""What stands round every page: the stations of the rail, the alert badge, who and where one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import get_language, get_language_bidi
from django.utils.translation import gettext_lazy as _

from dashboard import access
from monitor.reports import alerts, triage

THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """A page in the rail. noun: its url name, and the icon's name where none is given."""

    noun: str
    label: Promise
    icon: str
    short: Promise | None = None


LINE = (
    (
        Station(noun="overview", label=_("Overview"), icon="overview"),
        Station(noun="triage", label=_("Triage"), icon="person"),
        Station(noun="alerts", label=_("Alerts"), icon="alerts"),
    ),
    (
        Station(noun="dead_letters", label=_("Dead letters"), icon="dead", short=_("Dead")),
        Station(noun="mismatches", label=_("Mismatches"), icon="mismatch"),
        Station(noun="reconcile", label=_("Reconcile"), icon="reconcile"),
        Station(noun="sessions", label=_("Sessions"), icon="sessions"),
    ),
    (
        Station(noun="messages", label=_("Messages"), icon="message"),
        Station(noun="duplicates", label=_("Duplicates"), icon="duplicates"),
        Station(noun="consumers", label=_("Consumers"), icon="consumers"),
    ),
    (
        Station(noun="requeues", label=_("Requeues"), icon="requeue"),
        Station(noun="audit", label=_("Audit"), icon="audit"),
        Station(noun="system", label=_("System"), icon="system"),
    ),
)
BOTTOM = (LINE[0][0], LINE[0][1], LINE[1][0], LINE[1][3])
KEYS = {"overview": "o", "alerts": "a", "dead_letters": "d", "mismatches": "i", "sessions": "s"} | {
    "messages": "m",
    "duplicates": "u",
    "consumers": "c",
    "reconcile": "r",
    "requeues": "q",
    "audit": "l",
    "system": "y",
    "triage": "t",
}


def context(request: HttpRequest, noun: str) -> dict[str, Any]:
    """The values of the layout for a page of this noun."""
    theme = request.COOKIES.get("theme", "")
    return {
        "noun": noun,
        "line": LINE,
        "bottom": BOTTOM,
        "alert_badge": alerts.open_count(),
        "triage_badge": triage.calling(),
        "actor": access.actor(request),
        "zone": access.zone(request).key,
        "theme": theme if theme in THEMES else "",
        "environment": getattr(settings, "COMBOIO_ENVIRONMENT", ""),
        "is_forgetful": getattr(settings, "COMBOIO_UNSAFE_DATABASE", False),
        "now": timezone.now(),
        "language": get_language() or "en",
        "direction": "rtl" if get_language_bidi() else "ltr",
    }
