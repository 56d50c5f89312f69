"""Start-up of the inbox: finds the consumers of every installed app, keeps the groups there."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.module_loading import autodiscover_modules

from monitor.operations.groups import create_groups


class MonitorConfig(AppConfig):
    """The inbox and its engine."""

    name = "monitor"
    verbose_name = "Comboio inbox"

    def ready(self) -> None:
        """Import checks.py and consumers.py of each app: they register what they declare."""
        autodiscover_modules("checks", "consumers")
        # Not a migration: Django makes the permissions, which the groups hold, after all of them.
        post_migrate.connect(create_groups, sender=self)
