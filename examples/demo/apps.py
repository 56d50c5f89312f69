"""The demo's traffic as a Django app; it brings the command `demo`."""

from __future__ import annotations

from django.apps import AppConfig


class DemoConfig(AppConfig):
    """Real traffic for the two examples, and the check of what came of it."""

    name = "examples.demo"
    label = "demo"
