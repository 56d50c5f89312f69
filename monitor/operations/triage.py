"""The verbs on groups of alerts: take, give, write note, snooze, wake.

A group is named by any of its alerts. What is said of it outlives them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import psycopg
from django.utils.translation import gettext as _

from monitor.domain.actor import Actor, Permission
from monitor.domain.errors import RefusedError
from monitor.domain.triage import LONGEST_SNOOZE, GroupKey
from monitor.operations.done import Done
from monitor.operations.sentences import cleaned, when
from monitor.operations.transaction import act, record
from monitor.reports import people
from monitor.store import triage

Cursor = psycopg.Cursor[Any]


def take(actor: Actor, alert_id: int, *, seen: int) -> Done:
    """Look after a group oneself; it stays so when its messages are retried and fail again.

    Raises RefusedError when the group is not as seen; PermissionRefusedError without “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        group, title = _group(cursor, alert_id)
        row = triage.own(cursor, group, seen=seen, actor=actor.name, owner=actor.name)
        if row is None:
            raise _refusal(cursor, group, seen)
        _note(cursor, actor, "take", group, row, alert_id)
        text = _("You look after it now: %(title)s") % {"title": title}
        return Done(verb="take", text=text, count=1)


def give(actor: Actor, alert_id: int, *, seen: int, owner: str) -> Done:
    """Give a group to a person who may operate; "" to nobody.

    Raises RefusedError when there is no such person or the group is not as seen;
    PermissionRefusedError without “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        group, title = _group(cursor, alert_id)
        if owner and owner not in people.operators():
            raise RefusedError(
                _("%(owner)s is not a user who may operate; choose one of the list.")
                % {"owner": owner}
            )
        row = triage.own(cursor, group, seen=seen, actor=actor.name, owner=owner)
        if row is None:
            raise _refusal(cursor, group, seen)
        _note(cursor, actor, "give", group, row, alert_id, owner=owner)
        text = (
            _("%(owner)s looks after it now: %(title)s")
            if owner
            else _("Nobody looks after it now: %(title)s")
        )
        return Done(verb="give", text=text % {"owner": owner, "title": title}, count=1)


def write_note(actor: Actor, alert_id: int, *, seen: int, note: str) -> Done:
    """Replace the note of a group; "" removes it.

    Raises RefusedError when the note is too long or the group is not as seen;
    PermissionRefusedError without “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        group, title = _group(cursor, alert_id)
        kept = cleaned(note)
        row = triage.write_note(cursor, group, seen=seen, actor=actor.name, note=kept)
        if row is None:
            raise _refusal(cursor, group, seen)
        _note(cursor, actor, "note", group, row, alert_id, reason=kept)
        text = _("Note kept: %(title)s") if kept else _("Note removed: %(title)s")
        return Done(verb="note", text=text % {"title": title}, count=1)


def snooze(actor: Actor, alert_id: int, *, seen: int, until: datetime | None) -> Done:
    """Let a group sleep until a time: it is still listed, but calls nobody.

    It wakes earlier when it was gone and comes back, or is raised more than ten times as often.
    Raises RefusedError when the time is not one to come, the group is resolved or not as seen;
    PermissionRefusedError without “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        group, title = _group(cursor, alert_id)
        now = datetime.now(UTC)
        if until is None or until <= now:
            raise RefusedError(_("Choose a time to come, until which it shall sleep."))
        if until > now + LONGEST_SNOOZE:
            raise RefusedError(
                _("At most %(days)d days; choose an earlier time.") % {"days": LONGEST_SNOOZE.days}
            )
        row = triage.snooze(cursor, group, seen=seen, actor=actor.name, until=until)
        if row is None:
            gone = _("This group is resolved: its cause is gone; reload the page.")
            raise _refusal(cursor, group, seen, gone)
        _note(cursor, actor, "snooze", group, row, alert_id, until=until.isoformat())
        facts = {"until": when(until), "title": title}
        return Done(verb="snooze", text=_("Snoozed until %(until)s: %(title)s") % facts, count=1)


def wake(actor: Actor, alert_id: int, *, seen: int) -> Done:
    """End the snooze of a group.

    Raises RefusedError when it does not sleep or is not as seen; PermissionRefusedError without
    “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        group, title = _group(cursor, alert_id)
        row = triage.wake(cursor, group, seen=seen, actor=actor.name)
        if row is None:
            raise _refusal(cursor, group, seen, _("It does not sleep any more; reload the page."))
        _note(cursor, actor, "wake", group, row, alert_id)
        return Done(verb="wake", text=_("Awake again: %(title)s") % {"title": title}, count=1)


def _group(cursor: Cursor, alert_id: int) -> tuple[GroupKey, str]:
    found = triage.group_of(cursor, alert_id)
    if found is None:
        raise RefusedError(_("There is no alert %(id)d.") % {"id": alert_id})
    return found


def _note(  # noqa: PLR0913 - what was done, by name
    cursor: Cursor,
    actor: Actor,
    verb: str,
    group: GroupKey,
    row: int,
    alert_id: int,
    *,
    reason: str = "",
    **detail: str,
) -> None:
    facts = {"alert": alert_id, "kind": group.kind, "cause": group.cause, **detail}
    record(cursor, actor, verb, ("triage", row), reason=reason, detail=facts)


def _refusal(cursor: Cursor, group: GroupKey, seen: int, otherwise: str = "") -> RefusedError:
    """Why nothing was changed. otherwise: the reason when it still is as seen."""
    found = triage.said(cursor, group)
    if found is None or found.version == seen:
        return RefusedError(
            otherwise or _("This group changed since this page was made; reload the page.")
        )
    text = _("This group was changed by %(actor)s at %(at)s; reload the page.")
    return RefusedError(text % {"actor": found.changed_by, "at": when(found.changed_at)})
