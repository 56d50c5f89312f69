"""Lists as files: by POST, because each export is an act that the audit keeps."""

from __future__ import annotations

import json

from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase

from dashboard import access, csv_lines, forms
from monitor.operations import exporting
from monitor.reports import audit


@access.verb
def audit_export(request: HttpRequest) -> HttpResponseBase:
    """The acts of a filter as CSV, one line after the other; the export is an act itself."""
    wanted = forms.AuditFilter.parse(request.POST)
    exporting.note_export(access.actor(request), "audit", {"filter": wanted.query})
    head = ("at", "actor", "verb", "object", "object id", "reason", "detail")
    found = audit.every(
        actor=wanted.actor,
        verb=wanted.verb,
        thing=wanted.thing,
        since=wanted.since,
        until=wanted.until,
    )
    rows = ((*_of_act(each), json.dumps(each.detail, ensure_ascii=False)) for each in found)
    return StreamingHttpResponse(
        csv_lines.lines(head, rows),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": 'attachment; filename="comboio-audit.csv"',
            "Cache-Control": "no-store, private",
        },
    )


def _of_act(row: audit.AuditRow) -> tuple[csv_lines.Cell, ...]:
    return (row.at, row.actor, row.verb, row.object_kind, row.object_id, row.reason)
