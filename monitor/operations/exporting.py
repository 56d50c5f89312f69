"""Exports are acts, too: who took what out stands in the audit."""

from __future__ import annotations

from monitor.domain.actor import Actor, Permission
from monitor.operations.transaction import act, record


def note_export(actor: Actor, what: str, detail: dict[str, object]) -> None:
    """Write down that a person takes a list out of the console, before the first line goes.

    Raises PermissionRefusedError without “view”. Wants no open transaction.
    """
    with act(actor, Permission.VIEW) as cursor:
        record(cursor, actor, "export", (what, 0), detail=detail)
