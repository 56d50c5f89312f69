"""Triage: what needs a person, as groups by cause."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from dashboard import access, forms, grouping, places, render, triage_forms
from monitor.domain.states import AlertKind
from monitor.domain.triage import KINDS, GroupState
from monitor.reports import audit, consumers, dead_letters, people, triage, triage_members
from monitor.reports.triage import Group

_ACTS = 10


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """Groups, those that need somebody first."""
    wanted = triage_forms.TriageFilter.parse(request.GET)
    found = triage.page(
        wanted.cursor,
        state=wanted.state,
        kind=wanted.kind,
        consumer=wanted.consumer,
        owner=access.actor(request).name if wanted.is_mine else None,
    )
    values = {
        "filter": wanted,
        "shown": triage_forms.SHOWN,
        "kinds": KINDS,
        "consumers": consumers.names(),
        "page": found,
        "rows": [grouping.shown(group) for group in found.rows],
        "morning": triage_forms.tomorrow_morning(),
    }
    return render.page(request, "triage/index", values)


@access.page
def detail(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """The group of an alert: why it stands together, what to do, and its members."""
    group = triage.detail(id)
    if group is None:
        raise Http404
    values = {
        "row": grouping.shown(group),
        "group": group,
        "basis": grouping.basis(group.kind),
        "woken": grouping.woken(group),
        "failure_url": grouping.failure_url(group),
        "people": people.operators(),
        "acts": _acts(group),
        "morning": triage_forms.tomorrow_morning(),
        **_members(group, request.GET.get("page")),
    }
    return render.page(request, "triage/detail", values)


def _acts(group: Group) -> tuple[audit.AuditRow, ...]:
    if group.triage_id is None:
        return ()
    return audit.page(thing=("triage", group.triage_id), limit=_ACTS).rows


def _members(group: Group, cursor: str | None) -> dict[str, Any]:
    """Dead messages and what was compared of them; of other kinds the alerts with their pages."""
    if group.kind == AlertKind.DEAD_LETTER:
        why = triage_members.why(group.key)
        return {
            "why": why,
            "sameness": grouping.sameness(why) if why else "",
            "trend": grouping.trend(why) if why else None,
            "page": dead_letters.page(cursor, consumer=group.consumer_id, cause=group.cause),
            "filter": {"query": forms.link()},
        }
    found = triage_members.page(group.key, cursor, is_live=group.state is not GroupState.RESOLVED)
    members = [
        (each, places.of_alert(each.kind, each.id, each.alert_target)) for each in found.rows
    ]
    return {
        "page": found,
        "members": members,
        "filter": {"query": forms.link()},
        "can_ask_many": sum(each.verb == "ask" for each in found.rows) > 1,
    }
