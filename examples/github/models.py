"""Timelines of issues and repositories, and what triage found.

No table is unique on the message: if a webhook took effect twice, two rows would show it.
"""

from __future__ import annotations

from django.db import models


class TimelineEntry(models.Model):
    """One event on the timeline of an issue, a pull request, a discussion or a whole repository."""

    timeline = models.CharField(max_length=256)  # "octocat/hello-world#7" or "octocat/hello-world"
    event = models.CharField(max_length=64)
    action = models.CharField(max_length=64, blank=True)
    actor = models.CharField(max_length=64, blank=True)
    title = models.CharField(max_length=256, blank=True)
    consumer = models.CharField(max_length=200)
    message_key = models.CharField(max_length=512, db_index=True)
    message_id = models.BigIntegerField()
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.timeline}: {self.event} {self.action}".strip()


class TriageStep(models.Model):
    """What an issue or pull request needs next, as it stood after one event."""

    item = models.CharField(max_length=256)
    needs = models.CharField(max_length=64)
    message_key = models.CharField(max_length=512, db_index=True)
    message_id = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.item} needs {self.needs}"
