"""The GitHub triage example as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class GithubTriageConfig(AppConfig):
    """Timelines and triage from GitHub's webhooks."""

    name = "examples.github"
    label = "github_triage"
