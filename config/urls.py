"""Every address of the product."""

from __future__ import annotations

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from monitor.health import healthz, readyz
from monitor.metrics.views import metrics

urlpatterns = [
    path("ingest/", include("monitor.sources.urls")),
    path("effects/", include("monitor.sources.effect_urls")),
    path("metrics", metrics, name="metrics"),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("", include("dashboard.urls")),
]
