"""The verb replay: a dead message runs again with a corrected payload, at its own place."""

from __future__ import annotations

from typing import Any

import psycopg
from django.utils.translation import gettext as _

from monitor import conf
from monitor.domain import fingerprint, payload, seals
from monitor.domain.actor import Actor, Permission
from monitor.domain.consumer import NO_CONSUMER
from monitor.domain.errors import RefusedError, RejectedDeliveryError
from monitor.domain.seals import SealError
from monitor.domain.source import MEBIBYTE
from monitor.engine import registry
from monitor.operations.done import Done
from monitor.operations.requeueing import put_back
from monitor.operations.sentences import cleaned, no_longer
from monitor.operations.transaction import act, record
from monitor.store import events, holds, lanes, requeues, revisions
from monitor.store.requeues import Dead
from monitor.store.revisions import Text

LARGEST_BYTES = MEBIBYTE
Cursor = psycopg.Cursor[Any]


def replay(
    actor: Actor, message_id: int, corrected: bytes, *, seen: int, reason: str, is_raw: bool = False
) -> Done:
    """Run a dead message again with this payload: the same identity, the same place, revision + 1.

    The accepted payload stays as it came, so the sender's next copy of it is a duplicate. The text
    must be JSON that the handler's payload type takes, unless is_raw. Seals in it (domain/seals.py)
    stand for redacted values, which stay as they are. seen is the version of the dead letter.
    Raises RefusedError when it is no longer dead as seen (a colleague's correction was faster),
    without a reason, or when the text cannot be taken; PermissionRefusedError without “decide”.
    """
    with act(actor, Permission.DECIDE) as cursor:
        reason = cleaned(reason)
        if not reason:
            raise RefusedError(_("Say what you corrected, and why."))
        dead, text = _dead(cursor, message_id, seen)
        corrected = _opened(cursor, dead, text, corrected)
        _check(cursor, dead, text, corrected, is_raw=is_raw)
        digest = fingerprint.fingerprint(
            corrected, "application/octet-stream" if is_raw else text.content_type
        )
        if not revisions.add(
            cursor,
            message_id,
            text,
            payload=corrected,
            fingerprint=digest,
            actor=actor.name,
            reason=reason,
        ):
            raise no_longer(cursor, message_id, "dead")
        if not put_back(cursor, actor, [dead]):
            raise no_longer(cursor, message_id, "dead")
        detail = {"revision": text.revision + 1, "reason": reason}
        events.write_many(cursor, "replay", {message_id: detail}, actor=actor.name)
        record(cursor, actor, "replay", ("message", message_id), reason=reason, detail=detail)
        told = _("Message %(id)d runs again, corrected (revision %(revision)d).")
        facts = {"id": message_id, "revision": text.revision + 1}
        return Done(verb="replay", text=told % facts, count=1)


def _dead(cursor: Cursor, message_id: int, seen: int) -> tuple[Dead, Text]:
    dead = requeues.find(cursor, message_id)
    if dead is None or dead.version != seen:
        raise no_longer(cursor, message_id, "dead")
    if dead.consumer == NO_CONSUMER:
        raise RefusedError(
            _("Nobody takes message %(id)d, so there is no handler to correct it for; requeue it.")
            % {"id": message_id}
        )
    lanes.lock(cursor, [dead.lane])
    text = revisions.newest(cursor, message_id)
    if text is None:
        raise RefusedError(_("The payload of message %(id)d is gone.") % {"id": message_id})
    return dead, text


def _opened(cursor: Cursor, dead: Dead, text: Text, corrected: bytes) -> bytes:
    """The corrected text with the values that its seals stand for."""
    found = holds.consumer(cursor, dead.consumer)
    policy = conf.get().redaction.policy(text.source, "" if found is None else found.name)
    try:
        opened = seals.opened(
            corrected.decode(errors="surrogateescape"),
            text.payload.decode(errors="replace"),
            policy,
        )
    except SealError as error:
        raise RefusedError(
            _("A redacted value cannot be put back: %(why)s.") % {"why": error}
        ) from error
    return opened.encode(errors="surrogateescape")


def _check(cursor: Cursor, dead: Dead, text: Text, corrected: bytes, *, is_raw: bool) -> None:
    if len(corrected) > LARGEST_BYTES:
        raise RefusedError(
            _("The text has %(size)d bytes; at most %(most)d can be taken.")
            % {"size": len(corrected), "most": LARGEST_BYTES}
        )
    if corrected == text.payload:
        raise RefusedError(_("Nothing was changed: requeue the message as it is."))
    if is_raw or not fingerprint.is_json(text.content_type):
        return
    try:
        value = fingerprint.parse_json(corrected)
    except RejectedDeliveryError as error:
        raise RefusedError(_("The text is no JSON: %(why)s") % {"why": error}) from error
    found = holds.consumer(cursor, dead.consumer)
    declared = None if found is None else registry.get(found.name)
    if declared is None or declared.payload is None:
        return
    try:
        payload.read(declared.payload, value)
    except payload.PayloadError as error:
        raise RefusedError(
            _("The handler of %(consumer)s would not take it: %(why)s")
            % {"consumer": declared.name, "why": error}
        ) from error
