"""System: workers, table sizes, and whether the books balance."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from dashboard import access, health_words, render
from dashboard.keeping import keeping
from monitor.reports import last_proof, system


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """Books and proof, workers and clocks, what is kept, tables and what keeps them from upkeep."""
    figures = system.read()
    values = {
        "system": figures,
        "keeping": keeping(figures.durability),
        "proof": last_proof.read(Path(settings.BASE_DIR, "docs", "verification.md")),
        "clocks": health_words.clocks(figures),
        "upkeep": health_words.upkeep(figures),
    }
    return render.page(request, "system/index", values)
