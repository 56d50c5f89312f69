"""Verbs on consumers: hold and resume."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import psycopg
from django.utils.translation import gettext as _

from monitor.domain.actor import Actor, Permission
from monitor.domain.consumer import NO_CONSUMER
from monitor.domain.errors import RefusedError
from monitor.operations.done import Done
from monitor.operations.sentences import changed, cleaned, when
from monitor.operations.transaction import act, record
from monitor.store import holds, lanes
from monitor.store.holds import HeldConsumer


def hold(actor: Actor, consumer_id: int, *, reason: str, until: datetime | None = None) -> Done:
    """Let workers claim nothing more of a consumer, until resumed or until that time.

    Batches that run now finish. Raises RefusedError when there is no such consumer, it is held
    already, or until is not in the future; PermissionRefusedError without “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        reason = cleaned(reason)
        _check_until(until)
        found = _found(cursor, consumer_id)
        if not holds.hold_consumer(
            cursor, consumer_id, actor=actor.name, reason=reason, until=until
        ):
            raise changed(cursor, "consumer", consumer_id, _named(found))
        detail = {"until": until.isoformat()} if until else {}
        record(cursor, actor, "hold", ("consumer", consumer_id), reason=reason, detail=detail)
        lanes.wake(cursor)
        text = _("%(consumer)s is held; what runs now finishes, nothing more starts.")
        if until is not None:
            text = _("%(consumer)s is held until %(until)s; what runs now finishes.")
        facts = {"consumer": _named(found), "until": when(until) if until else ""}
        return Done(verb="hold", text=text % facts, count=1)


def resume(actor: Actor, consumer_id: int, *, seen: int) -> Done:
    """Let the consumer run again.

    Raises RefusedError when it is no longer held as seen; PermissionRefusedError without “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        found = _found(cursor, consumer_id)
        if not holds.resume_consumer(cursor, consumer_id, seen=seen):
            raise changed(cursor, "consumer", consumer_id, _named(found))
        record(cursor, actor, "resume", ("consumer", consumer_id))
        lanes.wake(cursor)
        text = _("%(consumer)s runs again.") % {"consumer": _named(found)}
        return Done(verb="resume", text=text, count=1)


def _found(cursor: psycopg.Cursor[Any], consumer_id: int) -> HeldConsumer:
    found = None if consumer_id == NO_CONSUMER else holds.consumer(cursor, consumer_id)
    if found is None:
        raise RefusedError(_("There is no consumer %(id)d.") % {"id": consumer_id})
    return found


def _check_until(until: datetime | None) -> None:
    if until is None:
        return
    if until.tzinfo is None or until <= datetime.now(UTC):
        raise RefusedError(_("A hold ends in the future: choose a later time."))


def _named(found: HeldConsumer) -> str:
    return _("Consumer %(name)s") % {"name": found.name}
