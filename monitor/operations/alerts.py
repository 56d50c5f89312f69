"""The verb on alerts: acknowledge."""

from __future__ import annotations

from django.utils.translation import gettext as _

from monitor.domain.actor import Actor, Permission
from monitor.domain.errors import RefusedError
from monitor.operations.done import Done
from monitor.operations.sentences import when
from monitor.operations.transaction import act, record
from monitor.store import alerts
from monitor.store.alerts import Found


def acknowledge(actor: Actor, alert_id: int, *, seen: int) -> Done:
    """Tell the others that somebody looks at it. It stays until its cause is gone.

    Raises RefusedError when it was acknowledged or resolved before; PermissionRefusedError without
    “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        found = alerts.find(cursor, alert_id)
        if found is None:
            raise RefusedError(_("There is no alert %(id)d.") % {"id": alert_id})
        if not alerts.acknowledge(cursor, alert_id, actor=actor.name, seen=seen):
            raise _refusal(alert_id, found)
        record(cursor, actor, "acknowledge", ("alert", alert_id))
        text = _("Alert acknowledged: %(title)s") % {"title": found.title}
        return Done(verb="acknowledge", text=text, count=1)


def _refusal(alert_id: int, found: Found) -> RefusedError:
    if found.state == "resolved":
        text = _("Alert %(id)d is resolved: its cause is gone; reload the page.")
    elif found.acknowledged_at is not None:
        text = _("Alert %(id)d was acknowledged by %(actor)s at %(at)s; reload the page.")
    else:
        text = _("Alert %(id)d changed since this page was made; reload the page.")
    at = "" if found.acknowledged_at is None else when(found.acknowledged_at)
    return RefusedError(text % {"id": alert_id, "actor": found.acknowledged_by, "at": at})
