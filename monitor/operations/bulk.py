"""Requeues of many: the set is frozen at the click, and each message is followed to its outcome.

A click keeps a plan in the database and does what fits into a second; the clock goes on with the
rest in short transactions, so nothing depends on the browser that asked for it.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import psycopg
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from monitor.domain.actor import Actor, Permission
from monitor.domain.errors import RefusedError
from monitor.domain.scope import MOST, Scope
from monitor.operations import carrying
from monitor.operations.done import Done
from monitor.operations.sentences import changed, cleaned
from monitor.operations.transaction import act, record
from monitor.store import bulks
from monitor.store.bulks import Bulk

CLICK_SECONDS = 1.0  # for which a person waits; the clock does the rest
FAILURE_LIMIT = 0.2

Cursor = psycopg.Cursor[Any]


def start(  # noqa: PLR0913 - what a person may choose, by name
    actor: Actor,
    scope: Scope,
    *,
    up_to_version: int,
    is_canary: bool = False,
    per_second: float | None = None,
    failure_limit: float = FAILURE_LIMIT,
    reason: str = "",
) -> Done:
    """Requeue what is dead in a scope and was so at that version; at most 100,000.

    is_canary: only the oldest one; the rest waits for its outcome and for a person. per_second: no
    faster than that. It stops by itself when more than failure_limit (0 to 1) of those whose
    outcome is known failed again. Done.target names it. Raises RefusedError when nothing of it is
    dead any more or a requeue of the same scope is on its way, RepeatedClickError for a second
    click, and PermissionRefusedError without “operate”. Wants no open transaction.
    """
    reason = cleaned(reason)
    values = {
        "state": "canary" if is_canary else "running",
        "actor": actor.name,
        "reason": reason,
        "per_second": per_second,
        "failure_limit": failure_limit,
    }
    with act(actor, Permission.OPERATE) as cursor:
        bulks.one_begins(cursor)
        running = bulks.running_of(cursor, scope)
        if running is not None:
            raise RefusedError(
                _("Requeue %(id)d takes the same dead letters; go on with it, or stop it first.")
                % {"id": running}
            )
        bulk, total = bulks.begin(cursor, scope, values, up_to_version=up_to_version, limit=MOST)
        if not total:
            raise RefusedError(_("No message of these is dead any more; reload the page."))
        detail = {"messages": total, "up_to_version": up_to_version, "canary": is_canary}
        named = {name: value for name, value in asdict(scope).items() if value is not None}
        record(cursor, actor, "requeue many", ("bulk", bulk), reason=reason, detail=detail | named)
    carrying.carry_on(bulk, CLICK_SECONDS)
    return _told(actor, bulk)


def go_on(actor: Actor, bulk: int, *, seen: int) -> Done:
    """Go on with the rest, after the canary or after a stop.

    Raises RefusedError when it is not as seen or has nothing left; PermissionRefusedError without
    “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        found = _seen(cursor, bulk, seen)
        if found.state not in ("waiting", "stopped") or not found.left:
            raise RefusedError(_("Requeue %(id)d has nothing left to go on with.") % {"id": bulk})
        bulks.turn(cursor, bulk, "running")
        bulks.begin_round(cursor, bulk)
        record(cursor, actor, "go on", ("bulk", bulk), detail={"left": found.left})
    carrying.carry_on(bulk, CLICK_SECONDS)
    return _told(actor, bulk)


def stop(actor: Actor, bulk: int) -> Done:
    """Put no more of it back; what was put back stays so.

    Raises RefusedError when it does not run; PermissionRefusedError without “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        found = bulks.find(cursor, bulk)
        if found is None or found.state not in ("canary", "running", "waiting"):
            raise RefusedError(_("Requeue %(id)d does not run.") % {"id": bulk})
        why = _("stopped by %(actor)s") % {"actor": actor.name}
        bulks.turn(cursor, bulk, "stopped", why)
        record(cursor, actor, "stop", ("bulk", bulk), detail={"left": found.left})
        bulks.end(cursor, bulk)
        text = ngettext(
            "Stopped. %(count)d message stays dead.",
            "Stopped. %(count)d messages stay dead.",
            found.left,
        )
        return Done(
            verb="stop", text=text % {"count": found.left}, count=found.left, target=("bulk", bulk)
        )


def requeue_cause(actor: Actor, cause: str, *, up_to_version: int) -> Done:
    """Requeue the dead messages of a cause that existed at that version; see start."""
    return start(actor, Scope(cause=cause), up_to_version=up_to_version)


def _seen(cursor: Cursor, bulk: int, seen: int) -> Bulk:
    found = bulks.find(cursor, bulk)
    if found is None or found.version != seen:
        raise changed(cursor, "bulk", bulk, _("Requeue %(id)d") % {"id": bulk})
    return found


def _told(actor: Actor, bulk: int) -> Done:
    """How far it came while the person waited."""
    with act(replace(actor, click=None), Permission.OPERATE) as cursor:
        found = bulks.find(cursor, bulk)
        why = bulks.first_refusal(cursor, bulk)
    assert found is not None  # noqa: S101 - it was begun
    parts = [_("%(count)d requeued") % {"count": found.moved}]
    if found.gone:
        text = ngettext("%(count)d was no longer dead", "%(count)d were no longer dead", found.gone)
        parts.append(text % {"count": found.gone})
    if found.refused:
        text = ngettext(
            "%(count)d stays dead: %(why)s", "%(count)d stay dead: %(why)s", found.refused
        )
        parts.append(text % {"count": found.refused, "why": why.rstrip(".")})
    if found.left:
        parts.append(_left(found) % {"count": found.left})
    told = ", ".join(parts) + "."
    if found.refused and not found.moved and not found.left:
        raise RefusedError(told)
    return Done(verb="requeue", text=told, count=found.moved, target=("bulk", bulk))


def _left(bulk: Bulk) -> str:
    if bulk.state in ("canary", "waiting"):
        return ngettext(
            "%(count)d waits for its outcome", "%(count)d wait for its outcome", bulk.left
        )
    if bulk.state == "running":
        return ngettext("%(count)d follows", "%(count)d follow", bulk.left)
    return ngettext("%(count)d is left", "%(count)d are left", bulk.left)
