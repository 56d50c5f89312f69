"""The addresses under /effects/."""

from __future__ import annotations

from django.urls import path

from monitor.sources import callback

app_name = "effects"
urlpatterns = [path("<str:name>/callback", callback.receive, name="callback")]
