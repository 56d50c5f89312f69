"""The addresses under /ingest/."""

from __future__ import annotations

from django.urls import path

from monitor.sources import http

app_name = "ingest"
urlpatterns = [
    path("<str:source>", http.deliver, name="deliver"),
    path("<str:source>/<path:key>", http.find, name="find"),
]
