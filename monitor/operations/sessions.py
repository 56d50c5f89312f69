"""Verbs on sessions: hold, resume, and steal (a lease)."""

from __future__ import annotations

from typing import Any

import psycopg
from django.utils.translation import gettext as _

from monitor.domain import keys
from monitor.domain.actor import Actor, Permission
from monitor.domain.errors import RefusedError
from monitor.domain.states import AlertKind
from monitor.operations.done import Done
from monitor.operations.locking import locked, named
from monitor.operations.sentences import changed, cleaned
from monitor.operations.transaction import act, record
from monitor.store import alerts, events, holds, lanes
from monitor.store.holds import Lease, Session


def hold(actor: Actor, session_id: int, *, reason: str) -> Done:
    """Let nothing of the session run until it is resumed; when this returns, nothing does.

    Only what an external consumer runs under a lease at that moment finishes; the text says so.
    Raises RefusedError when there is no such session, when it is held already or busy;
    PermissionRefusedError without “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        reason = cleaned(reason)
        found = locked(cursor, session_id)
        lane = keys.lane(found.consumer, session_id)
        if not holds.hold(cursor, session_id, lane, actor=actor.name, reason=reason):
            raise changed(cursor, "session", session_id, named(found))
        alerts.raise_many(cursor, [_alert(found, actor, reason)])
        record(cursor, actor, "hold", ("session", session_id), reason=reason)
        running = holds.lease(cursor, session_id)
        text = _("%(session)s is held; what comes in for it waits.")
        if running is not None and not running.is_over:
            text = _("%(session)s is held; only message %(id)d, which runs now, may still finish.")
        facts = {"session": named(found), "id": running.message_id if running else 0}
        return Done(verb="hold", text=text % facts, count=1)


def resume(actor: Actor, session_id: int, *, seen: int) -> Done:
    """Take an operator's hold away. A dead head or a retry may still keep the session shut.

    Raises RefusedError when it is not held by a person as seen; PermissionRefusedError without
    “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        found = locked(cursor, session_id)
        if not holds.resume(cursor, session_id, seen=seen):
            raise _not_held(cursor, found)
        if found.dead_message is None:
            alerts.resolve_sessions(cursor, [session_id])
            text = _("%(session)s is resumed.")
        else:
            text = _("%(session)s is resumed, but dead message %(dead)d still holds it.")
        record(cursor, actor, "resume", ("session", session_id))
        lanes.wake(cursor)
        facts = {"session": named(found), "dead": found.dead_message}
        return Done(verb="resume", text=text % facts, count=1)


def steal(actor: Actor, session_id: int, *, seen: int, reason: str) -> Done:
    """Take the lease of an external consumer's session from its holder; seen is its fence.

    The holder, should it still live, can neither commit nor call an effect any more; the next one
    treats its last call as one without an answer. Raises RefusedError without a reason, or when the
    lease is no longer as seen; PermissionRefusedError without “decide”.
    """
    with act(actor, Permission.DECIDE) as cursor:
        reason = cleaned(reason)
        if not reason:
            raise RefusedError(_("Say why the holder must not go on: its work so far is lost."))
        found = holds.lease(cursor, session_id)
        if found is None or not holds.steal(cursor, session_id, seen=seen):
            raise _not_leased(cursor, session_id)
        detail = {"message": found.message_id, "fence": seen}
        events.write_many(cursor, "steal", {found.message_id: {"reason": reason}}, actor=actor.name)
        record(cursor, actor, "steal", ("session", session_id), reason=reason, detail=detail)
        lanes.wake(cursor)
        text = _(
            "The lease of %(session)s is taken from its holder; message %(id)d starts again as "
            "soon as a worker is free."
        )
        facts = {"session": _leased(found), "id": found.message_id}
        return Done(verb="steal", text=text % facts, count=1)


def _not_held(cursor: psycopg.Cursor[Any], found: Session) -> RefusedError:
    if not found.held and found.dead_message is not None:
        return RefusedError(
            _("%(session)s is held by dead message %(dead)d: requeue or discard that message.")
            % {"session": named(found), "dead": found.dead_message}
        )
    return changed(cursor, "session", found.id, named(found))


def _not_leased(cursor: psycopg.Cursor[Any], session_id: int) -> RefusedError:
    """Why there is nothing to take: somebody did, the work ended, or the lease ran out."""
    found = holds.lease(cursor, session_id)
    if found is None:
        return RefusedError(
            _("Nobody works on session %(id)d any more: there is no lease; reload the page.")
            % {"id": session_id}
        )
    if found.is_over and not found.is_stolen:
        return RefusedError(
            _("The lease of %(session)s has run out: any worker may take it; reload the page.")
            % {"session": _leased(found)}
        )
    return changed(cursor, "session", session_id, _leased(found))


def _leased(found: Lease) -> str:
    if not found.key:
        return _("Message %(id)d of %(consumer)s, which has no session,") % {
            "id": found.message_id,
            "consumer": found.consumer_name,
        }
    return named(found)


def _alert(found: Session, actor: Actor, reason: str) -> alerts.Alert:
    title = f"Session “{found.key}” of {found.consumer_name} is held by {actor.name}"
    return alerts.Alert(
        kind=AlertKind.HELD_SESSION,
        consumer=found.consumer,
        subject=str(found.id),
        title=f"{title}: {reason}"[:300] if reason else title,
        target=found.id,
        cause=f"held by {actor.name}: {reason}",
    )
