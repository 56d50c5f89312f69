"""Verbs that let a session go on: skip the missing numbers of a gap, or the head that stops it."""

from __future__ import annotations

from typing import Any

import psycopg
from django.utils.translation import gettext as _

from monitor.domain import keys
from monitor.domain.actor import Actor, Permission
from monitor.domain.errors import RefusedError
from monitor.domain.states import AlertKind, DeadReason
from monitor.operations.done import Done
from monitor.operations.locking import locked, named
from monitor.operations.sentences import changed, cleaned
from monitor.operations.transaction import act, record
from monitor.store import alerts, dead_letters, events, gates, holds, lanes, sequences
from monitor.store.gates import WaitingHead
from monitor.store.holds import Session
from monitor.store.sequences import Passed

Cursor = psycopg.Cursor[Any]


def skip_gap(actor: Actor, session_id: int, *, seen: int, reason: str) -> Done:
    """Give up the missing numbers of a session; it goes on with the lowest that waits.

    seen is the number that the page showed as missing. Should it come after all, it is stale.
    Raises RefusedError without a reason, or when the session does not wait for that number any
    more; PermissionRefusedError without “decide”.
    """
    with act(actor, Permission.DECIDE) as cursor:
        found, lane, reason = _locked(cursor, session_id, reason)
        waiting = sequences.first_waiting(cursor, session_id, lane)
        if waiting is None or waiting[0] <= seen:
            raise changed(cursor, "session", session_id, named(found))
        to, message_id = waiting
        if not sequences.skip(cursor, session_id, seen=seen, to=to):
            raise changed(cursor, "session", session_id, named(found))
        alerts.resolve(cursor, AlertKind.GAP, found.consumer, str(session_id))
        detail = {"from": seen, "to": to - 1, "reason": reason}
        events.write_many(cursor, "skip gap", {message_id: detail}, actor=actor.name)
        record(cursor, actor, "skip gap", ("session", session_id), reason=reason, detail=detail)
        lanes.wake(cursor)
        text = _("%(session)s goes on with number %(to)d, without %(numbers)s.")
        facts = {"session": named(found), "to": to, "numbers": numbers(seen, to - 1)}
        return Done(verb="skip gap", text=text % facts, count=1)


def skip_head(actor: Actor, session_id: int, *, seen: int, reason: str) -> Done:
    """Let a session go on without the message that stops it; seen is the version of its gate.

    A dead head stays among the dead letters, one that waits for its retry goes there: requeued
    later it runs late. Raises RefusedError without a reason, or when nothing stops the session as
    seen; PermissionRefusedError without “decide”.
    """
    with act(actor, Permission.DECIDE) as cursor:
        found, lane, reason = _locked(cursor, session_id, reason)
        if found.version is None or found.version != seen:
            raise changed(cursor, "session", session_id, named(found))
        head = gates.waiting_head(cursor, session_id)
        if found.dead_message is not None:
            message_id = found.dead_message
            holds.release(cursor, [session_id], [message_id])
        elif head is not None:
            message_id = head.id
            _bury(cursor, actor, found, lane, head)
        else:
            raise RefusedError(
                _("No message stops %(session)s: there is nothing to skip; reload the page.")
                % {"session": named(found)}
            )
        if not found.held:
            alerts.resolve_sessions(cursor, [session_id])
        events.write_many(cursor, "skip head", {message_id: {"reason": reason}}, actor=actor.name)
        detail = {"message": message_id}
        record(cursor, actor, "skip head", ("session", session_id), reason=reason, detail=detail)
        lanes.wake(cursor)
        text = _("%(session)s goes on without message %(id)d, which is dead.")
        if found.held:
            text = _("%(session)s goes on without message %(id)d once it is resumed.")
        facts = {"session": named(found), "id": message_id}
        return Done(verb="skip head", text=text % facts, count=1)


def numbers(first: int, last: int) -> str:
    """One number or several in words."""
    if first == last:
        return _("number %(first)d") % {"first": first}
    return _("numbers %(first)d to %(last)d") % {"first": first, "last": last}


def _locked(cursor: Cursor, session_id: int, reason: str) -> tuple[Session, int, str]:
    reason = cleaned(reason)
    if not reason:
        raise RefusedError(_("Say why the session shall go on without it."))
    found = locked(cursor, session_id)
    return found, keys.lane(found.consumer, session_id), reason


def _bury(cursor: Cursor, actor: Actor, found: Session, lane: int, head: WaitingHead) -> None:
    text = _("Skipped by %(actor)s after: %(error)s") % {"actor": actor.name, "error": head.error}
    burial = dead_letters.Burial(
        id=head.id,
        consumer=found.consumer,
        lane=lane,
        session=found.id,
        reason=DeadReason.POISON,
        error_class="",
        error=text,
        cause=f"{DeadReason.POISON}: skipped in {found.consumer_name}",
        attempts=head.attempts,
    )
    if not dead_letters.bury(cursor, burial):
        raise changed(cursor, "session", found.id, named(found))
    gates.drop_retry(cursor, found.id)
    if head.number is not None and head.number >= 0:
        sequences.advance(cursor, [Passed(found.id, lane, head.number, head.is_last)])
    alerts.raise_many(
        cursor,
        [
            alerts.Alert(
                kind=AlertKind.DEAD_LETTER,
                consumer=found.consumer,
                subject=burial.cause,
                title=text[:300],
                target=head.id,
            )
        ],
    )
