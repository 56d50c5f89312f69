"""Verbs on messages: requeue, discard, restore, and requeue of all of one cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
from django.utils.translation import gettext as _

from monitor.domain.actor import Actor, Permission
from monitor.domain.consumer import NO_CONSUMER
from monitor.domain.errors import RefusedError
from monitor.domain.states import AlertKind
from monitor.operations.bulk import requeue_cause
from monitor.operations.done import Done
from monitor.operations.requeueing import leave, put_back
from monitor.operations.routing import route
from monitor.operations.sentences import cleaned, no_longer
from monitor.operations.transaction import act, record
from monitor.store import alerts, discarded, events, holds, lanes, requeues
from monitor.store.alerts import Alert
from monitor.store.requeues import Dead

__all__ = ["discard", "requeue", "requeue_cause", "restore"]

Cursor = psycopg.Cursor[Any]


def requeue(actor: Actor, message_id: int, *, seen: int, note: str = "") -> Done:
    """Put a dead message back at its place in its session; its attempts start anew.

    note: what the person says about it. What nobody took is routed again instead. Raises
    RefusedError when it is no longer dead as seen (a second click, or a colleague was faster), when
    no consumer takes it, or when its session is busy; PermissionRefusedError without “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        note = cleaned(note)
        dead = _locked(cursor, message_id, seen, requeues.find, "dead")
        if dead.consumer == NO_CONSUMER:
            return _route_one(cursor, actor, dead)
        moved = put_back(cursor, actor, [dead], note=note)
        if not moved:
            raise no_longer(cursor, message_id, "dead")
        text = _ready_again(cursor, dead, is_late=moved[0].is_late)
        return Done(verb="requeue", text=text, count=1)


def discard(actor: Actor, message_id: int, *, seen: int, note: str = "") -> Done:
    """Decide that a dead message shall not run; a session that it held goes on without it.

    Raises RefusedError when it is no longer dead as seen; PermissionRefusedError without “decide”.
    """
    with act(actor, Permission.DECIDE) as cursor:
        note = cleaned(note)
        dead = _locked(cursor, message_id, seen, requeues.find, "dead")
        if not discarded.discard(cursor, [dead], {message_id: note}, actor=actor.name):
            raise no_longer(cursor, message_id, "dead")
        opened = leave(cursor, [dead])
        events.write_many(cursor, "discard", {message_id: {"note": note}}, actor=actor.name)
        record(cursor, actor, "discard", ("message", message_id), reason=note)
        if opened:
            lanes.wake(cursor)
        text = (
            _("Message %(id)d is discarded; its session goes on.")
            if opened
            else _("Message %(id)d is discarded.")
        )
        return Done(verb="discard", text=text % {"id": message_id}, count=1)


def restore(actor: Actor, message_id: int, *, seen: int) -> Done:
    """Make a discarded message dead again; it holds no session.

    Raises RefusedError when it is no longer discarded as seen; PermissionRefusedError without
    “decide”.
    """
    with act(actor, Permission.DECIDE) as cursor:
        dead = _locked(cursor, message_id, seen, discarded.find, "discarded")
        if not discarded.restore(cursor, message_id, version=seen):
            raise no_longer(cursor, message_id, "discarded")
        alerts.raise_many(cursor, [_dead_letter(dead)])
        events.write_many(cursor, "restore", {message_id: {}}, actor=actor.name)
        record(cursor, actor, "restore", ("message", message_id))
        text = _("Message %(id)d is back among the dead letters.") % {"id": message_id}
        return Done(verb="restore", text=text, count=1)


def _locked(
    cursor: Cursor,
    message_id: int,
    seen: int,
    find: Callable[[Cursor, int], Dead | None],
    wanted: str,
) -> Dead:
    found = find(cursor, message_id)
    if found is None or found.version != seen:
        raise no_longer(cursor, message_id, wanted)
    lanes.lock(cursor, [found.lane])
    return found


def _route_one(cursor: Cursor, actor: Actor, dead: Dead) -> Done:
    routed = route(cursor, actor, [dead])
    if dead.id in routed.refusals:
        raise RefusedError(
            _("Message %(id)d stays dead: %(why)s")
            % {"id": dead.id, "why": routed.refusals[dead.id]}
        )
    if dead.id not in routed.notes:
        raise no_longer(cursor, dead.id, "dead")
    text = _("Message %(id)d: %(note)s.") % {"id": dead.id, "note": routed.notes[dead.id]}
    return Done(verb="requeue", text=text, count=1)


def _ready_again(cursor: Cursor, dead: Dead, *, is_late: bool) -> str:
    gate = holds.session(cursor, dead.session) if dead.session > 0 else None
    if gate is not None and gate.held:
        return _(
            "Message %(id)d is ready; it runs when its session, held by %(actor)s, resumes."
        ) % {"id": dead.id, "actor": gate.held_by}
    if is_late:
        return _(
            "Message %(id)d is ready again. It runs late: later ones of its session are done."
        ) % {"id": dead.id}
    return _("Message %(id)d is ready again.") % {"id": dead.id}


def _dead_letter(dead: Dead) -> Alert:
    return Alert(
        kind=AlertKind.DEAD_LETTER,
        consumer=dead.consumer,
        subject=dead.cause,
        title=f"{dead.reason}: {dead.error}"[:300],
        target=dead.id,
    )
