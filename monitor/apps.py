"""Start-up of the inbox: finds the consumers of every installed app."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class MonitorConfig(AppConfig):
    """The inbox and its engine."""

    name = "monitor"
    verbose_name = "Comboio inbox"

    def ready(self) -> None:
        """Import checks.py and consumers.py of each app: they register what they declare."""
        autodiscover_modules("checks", "consumers")
