"""Verbs on effects whose outcome is unknown: reconcile, mark done, mark not done, escalate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import psycopg
from django.utils.translation import gettext as _

from monitor.domain.actor import Actor, Permission
from monitor.domain.effect import Evidence, Told
from monitor.domain.errors import RefusedError
from monitor.domain.states import AlertKind
from monitor.engine import probing, verdict
from monitor.engine.steadiness import WATCH
from monitor.engine.verdict import Outcome, Settled
from monitor.operations.done import Done
from monitor.operations.sentences import changed, cleaned, decided
from monitor.operations.transaction import act, record
from monitor.store import alerts, connections, events, reconciling
from monitor.store.alerts import Alert
from monitor.store.reconciling import Asked

Cursor = psycopg.Cursor[Any]


def expect_answers() -> None:
    """Watch the clock for who may soon ask: "not done" counts only after seconds that were watched.

    Costs one small statement; wants no transaction.
    """
    WATCH.look(connections.shared_cursor())


def reconcile_now(actor: Actor, effect_id: int, *, seen: int) -> Done:
    """Ask the provider now and let its answer count; takes up to the time limit of a probe.

    The answer is kept as evidence whatever it says. Returns with count 0 when it settled nothing.
    Raises RefusedError when the effect is no longer in doubt as seen, when its provider cannot be
    asked, or when somebody was faster while it was (an answer that contradicts opens an alert);
    PermissionRefusedError without “operate”. Wants no open transaction.
    """
    with act(replace(actor, click=None), Permission.OPERATE) as cursor:
        found = _in_doubt(cursor, effect_id, seen)
        _check_askable(found)
    evidence = probing.ask(found)
    with act(actor, Permission.OPERATE) as cursor:
        # Without the version: what was learnt counts also when somebody was faster meanwhile.
        outcome = verdict.settle(cursor, effect_id, evidence, source="probe", actor=actor.name)
        if outcome.kind is Settled.GONE:
            raise _gone(effect_id)
        if outcome.kind is Settled.AGREES:
            too_late = _no_longer(cursor, found)
        else:
            detail = {"told": str(evidence.told), "outcome": str(outcome.kind)}
            record(cursor, actor, "reconcile", ("effect", effect_id), detail=detail)
    # Refused only now: the evidence stays.
    if outcome.kind is Settled.AGREES:
        raise too_late
    _refuse_conflict(found, outcome)
    text = _answer(found, outcome, evidence)
    return Done(verb="reconcile", text=text, count=int(outcome.kind is Settled.SETTLED))


def mark_done(actor: Actor, effect_id: int, *, seen: int, reference: str, reason: str) -> Done:
    """A person knows that it happened; its handler runs on with {"reference": …} as the result.

    Raises RefusedError without a reference (what the provider calls it), when the effect is no
    longer in doubt as seen, or when this contradicts a decision (kept, with an alert);
    PermissionRefusedError without “decide”.
    """
    actor.require(Permission.DECIDE)
    reference, reason = cleaned(reference), cleaned(reason)
    if not reference:
        raise RefusedError(
            _("Give the reference under which the provider knows it, such as its receipt number.")
        )
    evidence = Evidence(
        told=Told.DONE,
        result={"reference": reference},
        reference=reference,
        detail={"reason": reason},
    )
    return _decide(actor, "mark done", effect_id, evidence, seen)


def mark_not_done(actor: Actor, effect_id: int, *, seen: int, reason: str) -> Done:
    """A person knows that it did not happen: the message runs again and the call is made again.

    Raises RefusedError without a reason, when the effect is no longer in doubt as seen, or when
    this contradicts a decision (kept, with an alert); PermissionRefusedError without “decide”.
    """
    actor.require(Permission.DECIDE)
    reason = cleaned(reason)
    if not reason:
        raise RefusedError(
            _("Say how you know that it did not happen: if it did, it will happen twice.")
        )
    evidence = Evidence(told=Told.NOT_DONE, detail={"reason": reason})
    return _decide(actor, "mark not done", effect_id, evidence, seen)


def escalate(actor: Actor, effect_id: int, *, seen: int, reason: str) -> Done:
    """Call for somebody who may decide: its alert opens again and says who asks and why.

    Raises RefusedError when the effect is no longer in doubt as seen; PermissionRefusedError
    without “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        reason = cleaned(reason)
        found = _in_doubt(cursor, effect_id, seen)
        if not reconciling.escalate(cursor, effect_id, actor=actor.name, seen=seen):
            raise _no_longer(cursor, found)
        detail = {"effect": found.name, "reason": reason}
        events.write_many(cursor, "escalate", {found.message_id: detail}, actor=actor.name)
        alerts.raise_many(cursor, [_alert(found, actor, reason)])
        reconciling.reopen_alert(cursor, found.consumer, effect_id)
        record(cursor, actor, "escalate", ("effect", effect_id), reason=reason)
        text = _("%(effect)s is escalated: its alert is open again and names you.")
        return Done(verb="escalate", text=text % {"effect": _named(found)}, count=1)


def _decide(actor: Actor, verb: str, effect_id: int, evidence: Evidence, seen: int) -> Done:
    with act(actor, Permission.DECIDE) as cursor:
        found = _found(cursor, effect_id)
        outcome = verdict.settle(
            cursor, effect_id, evidence, source="person", actor=actor.name, seen=seen
        )
        if outcome.kind is Settled.GONE:
            raise _gone(effect_id)
        if outcome.kind in (Settled.STALE, Settled.AGREES):
            raise _no_longer(cursor, found)
        record(
            cursor,
            actor,
            verb,
            ("effect", effect_id),
            reason=str(evidence.detail["reason"]),
            detail={"reference": evidence.reference, "outcome": str(outcome.kind)},
        )
    _refuse_conflict(found, outcome)
    if evidence.told is Told.DONE:
        text = _("%(effect)s is marked done under “%(reference)s”; its message goes on.")
    else:
        text = _("%(effect)s is marked not done; its message is ready and calls again.")
    facts = {"effect": _named(found), "reference": evidence.reference}
    return Done(verb=verb, text=text % facts, count=1)


def _answer(found: Asked, outcome: Outcome, evidence: Evidence) -> str:
    """What the probe brought, in a sentence."""
    known = {
        Settled.TOO_EARLY: _(
            "The provider does not know %(effect)s yet. That proves nothing so soon after the "
            "call: ask again later."
        ),
        Settled.OPEN: _("The provider cannot tell: %(effect)s stays in doubt. %(why)s"),
    }
    told = {
        Told.DONE: _("%(effect)s is done, says the provider: %(reference)s. Its message goes on."),
        Told.NOT_DONE: _("%(effect)s did not happen; its message is ready and calls again."),
        Told.REFUSED: _("The provider refused %(effect)s; it has failed."),
    }
    text = told.get(evidence.told, "") if outcome.kind is Settled.SETTLED else known[outcome.kind]
    facts = {
        "effect": _named(found),
        "reference": evidence.reference or _("no reference"),
        "why": str(evidence.detail.get("error", "")),
    }
    return (text % facts).strip()


def _check_askable(found: Asked) -> None:
    effect = probing.effect_of(found)
    if effect is None:
        raise RefusedError(
            _("%(effect)s is not declared any more, so nothing knows how to ask its provider.")
            % {"effect": _named(found)}
        )
    if effect.reconcile is None:
        raise RefusedError(
            _("The provider of %(effect)s cannot be asked: a person has to find out and mark it.")
            % {"effect": _named(found)}
        )


def _found(cursor: Cursor, effect_id: int) -> Asked:
    found = reconciling.find(cursor, effect_id)
    if found is None:
        raise _gone(effect_id)
    return found


def _in_doubt(cursor: Cursor, effect_id: int, seen: int) -> Asked:
    found = _found(cursor, effect_id)
    if found.state != "in doubt" or found.version != seen:
        raise _no_longer(cursor, found)
    return found


def _no_longer(cursor: Cursor, before: Asked) -> RefusedError:
    """Why an effect is not as it was seen. Read again: a lock may have been waited for."""
    found = reconciling.find(cursor, before.id) or before
    if found.settled_at is None:
        return changed(cursor, "effect", found.id, _named(found))
    return RefusedError(
        _("%(effect)s was settled as %(state)s %(by)s; reload the page.")
        % {
            "effect": _named(found),
            "state": found.state,
            "by": decided(found.decided_by, found.settled_at),
        }
    )


def _refuse_conflict(found: Asked, outcome: Outcome) -> None:
    if outcome.kind is not Settled.CONFLICT:
        return
    if outcome.settled_at is None:
        text = _(
            "%(effect)s was called “not done” %(by)s, which this contradicts. Its message waits: "
            "compare the evidence and mark it; reload the page."
        )
    else:
        text = _(
            "%(effect)s was settled as %(state)s %(by)s, which this contradicts. Nothing is "
            "overwritten: both are kept as evidence and an alert is open; reload the page."
        )
    by = decided(outcome.decided_by, outcome.settled_at)
    raise RefusedError(text % {"effect": _named(found), "state": outcome.state, "by": by})


def _gone(effect_id: int) -> RefusedError:
    return RefusedError(_("There is no effect %(id)d.") % {"id": effect_id})


def _named(found: Asked) -> str:
    return _("Effect “%(name)s” of message %(id)d") % {"name": found.name, "id": found.message_id}


def _alert(found: Asked, actor: Actor, reason: str) -> Alert:
    title = f"Effect “{found.name}” of {found.consumer_name} in doubt, escalated by {actor.name}"
    return Alert(
        kind=AlertKind.EFFECT_IN_DOUBT,
        consumer=found.consumer,
        subject=str(found.id),
        title=f"{title}: {reason}"[:300] if reason else title,
        target=found.id,
    )
