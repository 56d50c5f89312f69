"""System: workers, table sizes, and whether the books balance."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from dashboard import access, render
from dashboard.keeping import keeping
from monitor.reports import system


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """Workers, books, tables and versions."""
    figures = system.read()
    values = {"system": figures, "keeping": keeping(figures.durability)}
    return render.page(request, "system/index", values)
