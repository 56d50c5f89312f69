"""Verdicts on mismatches: keep the first payload, or accept the second as a message of its own."""

from __future__ import annotations

from typing import Any

import psycopg
from django.utils.translation import gettext as _

from monitor.domain import keys
from monitor.domain.actor import Actor, Permission
from monitor.domain.errors import RefusedError
from monitor.operations.done import Done
from monitor.operations.sentences import changed, cleaned
from monitor.operations.transaction import act, record
from monitor.store import alerts, events, lanes, mismatches
from monitor.store.mismatches import Mismatch


def keep_first(actor: Actor, mismatch_id: int, *, seen: int, reason: str) -> Done:
    """The second payload shall never run; the first message stays as it is.

    Raises RefusedError when a verdict was given before; PermissionRefusedError without “decide”.
    """
    with act(actor, Permission.DECIDE) as cursor:
        reason = cleaned(reason)
        found = _found(cursor, mismatch_id)
        decided = mismatches.decide(
            cursor, mismatch_id, verdict="keep first", actor=actor.name, reason=reason, seen=seen
        )
        if not decided:
            raise _decided(cursor, mismatch_id)
        alerts.resolve_mismatch(cursor, found.consumer, found.message_id)
        events.write_many(
            cursor, "keep first", {found.message_id: {"mismatch": mismatch_id}}, actor=actor.name
        )
        record(cursor, actor, "keep first", ("mismatch", mismatch_id), reason=reason)
        text = _("Message %(id)d stays as it came first; the other payload will not run.")
        return Done(verb="keep first", text=text % {"id": found.message_id}, count=1)


def accept_second(actor: Actor, mismatch_id: int, *, seen: int, reason: str) -> Done:
    """Make the second payload a new message at the end of the session, under a key of its own.

    Later deliveries of that payload are its duplicates. Raises RefusedError when a verdict was
    given before or the new key is taken; PermissionRefusedError without “decide”.
    """
    with act(actor, Permission.DECIDE) as cursor:
        reason = cleaned(reason)
        found = _found(cursor, mismatch_id)
        if found.verdict is not None or found.version != seen:
            raise _decided(cursor, mismatch_id)
        new_id = _store_second(cursor, actor, found, reason)
        alerts.resolve_mismatch(cursor, found.consumer, found.message_id)
        for id_, detail in (
            (found.message_id, {"mismatch": mismatch_id, "accepted": new_id}),
            (new_id, {"mismatch": mismatch_id, "first": found.message_id}),
        ):
            events.write_many(cursor, "accept second", {id_: detail}, actor=actor.name)
        record(
            cursor,
            actor,
            "accept second",
            ("mismatch", mismatch_id),
            reason=reason,
            detail={"accepted": new_id},
        )
        lanes.wake(cursor)
        text = _(
            "The second payload is message %(new)d now and runs after the others of its session."
        )
        return Done(verb="accept second", text=text % {"new": new_id}, count=1)


def _store_second(cursor: psycopg.Cursor[Any], actor: Actor, found: Mismatch, reason: str) -> int:
    if found.session is None or found.origin is None or found.key is None:
        raise RefusedError(
            _("Message %(id)d is not kept any more, so its place in the session is unknown.")
            % {"id": found.message_id}
        )
    new_id = mismatches.next_message_id(cursor)
    session = found.session if found.session > 0 else -new_id
    lane = keys.lane(found.consumer, session)
    lanes.lock(cursor, [lane])
    key = keys.second_key(found.key, found.fingerprint)
    # In the order of ingest: dedup row, mismatch row, alerts.
    known = mismatches.remember(
        cursor, found.id, new_id=new_id, dedup_key=keys.dedup_key(found.origin, key)
    )
    decided = mismatches.decide(
        cursor,
        found.id,
        verdict="accept second",
        actor=actor.name,
        reason=reason,
        seen=found.version,
        accepted_id=new_id,
    )
    if not decided:
        raise _decided(cursor, found.id)
    if not known:
        raise RefusedError(
            _("A message with the key “%(key)s” exists already; keep the first instead.")
            % {"key": key}
        )
    mismatches.accept(cursor, found.id, new_id=new_id, lane=lane, session=session, key=key)
    return new_id


def _found(cursor: psycopg.Cursor[Any], mismatch_id: int) -> Mismatch:
    found = mismatches.find(cursor, mismatch_id)
    if found is None:
        raise RefusedError(_("There is no mismatch %(id)d.") % {"id": mismatch_id})
    return found


def _decided(cursor: psycopg.Cursor[Any], mismatch_id: int) -> RefusedError:
    return changed(cursor, "mismatch", mismatch_id, _("Mismatch %(id)d") % {"id": mismatch_id})
