"""Verbs on sessions: hold and resume."""

from __future__ import annotations

from typing import Any

import psycopg
from django.utils.translation import gettext as _

from monitor.domain import keys
from monitor.domain.actor import Actor, Permission
from monitor.domain.errors import RefusedError
from monitor.domain.states import AlertKind
from monitor.operations.done import Done
from monitor.operations.sentences import changed, cleaned
from monitor.operations.transaction import act, record
from monitor.store import alerts, holds, lanes
from monitor.store.holds import Session


def hold(actor: Actor, session_id: int, *, reason: str) -> Done:
    """Let nothing of the session run until it is resumed; when this returns, nothing does.

    Raises RefusedError when there is no such session, when it is held already or busy;
    PermissionRefusedError without “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        reason = cleaned(reason)
        found = _locked(cursor, session_id)
        lane = keys.lane(found.consumer, session_id)
        if not holds.hold(cursor, session_id, lane, actor=actor.name, reason=reason):
            raise changed(cursor, "session", session_id, _named(found))
        alerts.raise_many(cursor, [_alert(found, actor, reason)])
        record(cursor, actor, "hold", ("session", session_id), reason=reason)
        text = _("%(session)s is held; what comes in for it waits.") % {"session": _named(found)}
        return Done(verb="hold", text=text, count=1)


def resume(actor: Actor, session_id: int, *, seen: int) -> Done:
    """Take an operator's hold away. A dead head or a retry may still keep the session shut.

    Raises RefusedError when it is not held by a person as seen; PermissionRefusedError without
    “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        found = _locked(cursor, session_id)
        if not holds.resume(cursor, session_id, seen=seen):
            raise _not_held(cursor, found)
        if found.dead_message is None:
            alerts.resolve_sessions(cursor, [session_id])
            text = _("%(session)s is resumed.")
        else:
            text = _("%(session)s is resumed, but dead message %(dead)d still holds it.")
        record(cursor, actor, "resume", ("session", session_id))
        lanes.wake(cursor)
        facts = {"session": _named(found), "dead": found.dead_message}
        return Done(verb="resume", text=text % facts, count=1)


def _locked(cursor: psycopg.Cursor[Any], session_id: int) -> Session:
    found = holds.session(cursor, session_id)
    if found is None:
        raise RefusedError(_("There is no session %(id)d.") % {"id": session_id})
    lanes.lock(cursor, [keys.lane(found.consumer, session_id)])
    # Read again under the lock: the gate may have changed while this waited.
    return holds.session(cursor, session_id) or found


def _not_held(cursor: psycopg.Cursor[Any], found: Session) -> RefusedError:
    if not found.held and found.dead_message is not None:
        return RefusedError(
            _("%(session)s is held by dead message %(dead)d: requeue or discard that message.")
            % {"session": _named(found), "dead": found.dead_message}
        )
    return changed(cursor, "session", found.id, _named(found))


def _named(found: Session) -> str:
    return _("Session “%(key)s” of %(consumer)s") % {
        "key": found.key,
        "consumer": found.consumer_name,
    }


def _alert(found: Session, actor: Actor, reason: str) -> alerts.Alert:
    title = f"Session “{found.key}” of {found.consumer_name} is held by {actor.name}"
    return alerts.Alert(
        kind=AlertKind.HELD_SESSION,
        consumer=found.consumer,
        subject=str(found.id),
        title=f"{title}: {reason}"[:300] if reason else title,
        target=found.id,
    )
