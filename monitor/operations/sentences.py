"""The words in which verbs refuse: what happened, who did it, what to do now."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from django.utils.translation import gettext as _

from monitor.domain.errors import RefusedError
from monitor.store import audit, events
from monitor.store.audit import Act
from monitor.store.sql import Cursor

LONGEST_TEXT = 1000  # characters of a reason or note

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def when(at: datetime) -> str:
    """A time for people, in UTC: without its date when that is today's."""
    local = at.astimezone(UTC)
    is_today = local.date() == datetime.now(UTC).date()
    return local.strftime("%H:%M UTC" if is_today else "%Y-%m-%d %H:%M UTC")


def cleaned(text: str) -> str:
    """A person's reason or note, trimmed. Raises RefusedError when it cannot be kept as it is."""
    trimmed = text.strip().replace("\r\n", "\n")
    if len(trimmed) > LONGEST_TEXT:
        raise RefusedError(
            _("The text has %(length)d characters; at most %(most)d are kept. Shorten it.")
            % {"length": len(trimmed), "most": LONGEST_TEXT}
        )
    if _CONTROL.search(trimmed):
        raise RefusedError(_("The text holds control characters; remove them."))
    return trimmed


def no_longer(cursor: Cursor, message_id: int, wanted: str) -> RefusedError:
    """Why a message is not as it was seen: the error to raise. wanted: the state that was seen."""
    state = events.state(cursor, message_id)
    if state is None:
        return RefusedError(_("There is no message %(id)d.") % {"id": message_id})
    act = events.last_act(cursor, message_id)
    facts = {"id": message_id, "state": state} | _told(act)
    if act is None:
        text = _("Message %(id)d is %(state)s now, not as this page showed it; reload the page.")
    elif state == wanted:
        text = _(
            "Message %(id)d was %(done)s by %(actor)s at %(at)s and is %(state)s again; "
            "reload the page."
        )
    elif state == "done":
        text = _("Message %(id)d was %(done)s by %(actor)s at %(at)s and is done; reload the page.")
    else:
        text = _("Message %(id)d was %(done)s by %(actor)s at %(at)s; reload the page.")
    return RefusedError(text % facts)


def changed(cursor: Cursor, object_kind: str, object_id: int, name: str) -> RefusedError:
    """Why a session, consumer or mismatch is not as it was seen: the error to raise."""
    act = audit.last(cursor, object_kind, object_id)
    if act is None:
        text = _("%(name)s changed since this page was made; reload the page.")
    else:
        text = _("%(name)s was %(done)s by %(actor)s at %(at)s; reload the page.")
    return RefusedError(text % ({"name": name} | _told(act)))


def decided(by: str, at: datetime | None) -> str:
    """Who decided about an effect, a person by name, and when if that is known."""
    known = {
        "call": _("by the answer to the call"),
        "probe": _("by asking the provider"),
        "callback": _("by the provider's callback"),
    }
    who = known.get(by) or _("by %(name)s") % {"name": by}
    return who if at is None else _("%(who)s at %(at)s") % {"who": who, "at": when(at)}


def _told(act: Act | None) -> dict[str, str]:
    if act is None:
        return {}
    return {"done": _past(act.verb), "actor": act.actor, "at": when(act.at)}


def _past(verb: str) -> str:
    known = {
        "requeue": _("requeued"),
        "discard": _("discarded"),
        "restore": _("restored"),
        "hold": _("held"),
        "resume": _("resumed"),
        "keep first": _("decided (keep first)"),
        "accept second": _("decided (accept second)"),
        "acknowledge": _("acknowledged"),
        "mark done": _("marked done"),
        "mark not done": _("marked not done"),
        "reconcile": _("reconciled"),
        "escalate": _("escalated"),
        "steal": _("taken from its holder"),
        "replay": _("corrected and put back"),
        "requeue many": _("begun"),
        "go on": _("gone on with"),
        "stop": _("stopped"),
        "reveal": _("revealed"),
        "skip gap": _("let go on without the missing number"),
        "skip head": _("let go on without its head"),
    }
    return known.get(verb, verb)
