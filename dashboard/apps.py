"""The console as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    """Pages for the people on call."""

    name = "dashboard"
    verbose_name = "Console"
