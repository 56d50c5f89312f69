"""System: workers, table sizes, and whether the books balance."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from dashboard import access, render
from monitor.reports import system


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """Workers, books, tables and versions."""
    return render.page(request, "system/index", {"system": system.read()})
