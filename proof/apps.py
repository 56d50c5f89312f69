"""The app of the run's handlers: consumers.py is found as that of any installed app."""

from __future__ import annotations

from django.apps import AppConfig


class ProofConfig(AppConfig):
    """Installed by proof.settings only."""

    name = "proof"
