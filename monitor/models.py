"""Carries the permissions of operators; the tables of the inbox are plain SQL (migrations)."""

from __future__ import annotations

from django.db import models

from monitor.domain.actor import Permission


class Access(models.Model):
    """No table: an anchor to which Django ties the permissions that users and groups are given."""

    class Meta:
        managed = False
        default_permissions = ()
        permissions = [
            (Permission.VIEW.value, "May look at the console"),
            (Permission.REVEAL_PAYLOAD.value, "May see payloads"),
            (Permission.OPERATE.value, "May requeue, hold, resume and acknowledge"),
            (Permission.DECIDE.value, "May discard, restore and decide mismatches"),
            (Permission.ADMINISTER.value, "May administer"),
        ]
