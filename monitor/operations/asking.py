"""Asks providers about many effects in doubt at once, and lets every answer count."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from monitor.domain.actor import Actor, Permission
from monitor.domain.effect import Evidence, Told
from monitor.domain.errors import RefusedError
from monitor.engine import probing, verdict
from monitor.engine.verdict import Settled
from monitor.operations.done import Done
from monitor.operations.transaction import BusyError, act, record
from monitor.store import reconciling
from monitor.store.reconciling import Asked

MOST = 50  # probes that are out together, each in a thread of its own

_BUSY = "busy"


def reconcile_many(actor: Actor, consumer: int | None = None) -> Done:
    """Ask about the effects in doubt (of a consumer), the oldest 50 whose providers can be asked.

    Takes up to the time limit of a probe; each answer is kept, audited and counts in a transaction
    of its own, so that one that cannot be stored keeps none of the others from it. Returns with
    count: how many are settled. Raises RefusedError when none can be asked; RepeatedClickError for
    a second click; PermissionRefusedError without “operate”. Wants no open transaction.
    """
    with act(actor, Permission.OPERATE) as cursor:
        found = reconciling.in_doubt(cursor, probing.askable(), consumer, MOST)
        if not found:
            raise RefusedError(_("No effect in doubt has a provider that can be asked."))
    each_alone = replace(actor, click=None)
    tally = Counter(
        _let_count(each_alone, asked, evidence)
        for asked, evidence in zip(found, probing.ask_all(found), strict=True)
    )
    settled = tally[Told.DONE] + tally[Told.NOT_DONE] + tally[Told.REFUSED]
    return Done(verb="reconcile", text=_sentence(len(found), tally), count=settled)


def _let_count(actor: Actor, asked: Asked, evidence: Evidence) -> str:
    """What was learnt about one: what the provider told, how it was taken, or that it is busy."""
    try:
        with act(actor, Permission.OPERATE) as cursor:
            outcome = verdict.settle(cursor, asked.id, evidence, source="probe", actor=actor.name)
            detail = {"told": str(evidence.told), "outcome": str(outcome.kind)}
            record(cursor, actor, "reconcile", ("effect", asked.id), detail=detail)
    except BusyError:
        return _BUSY
    return evidence.told if outcome.kind is Settled.SETTLED else outcome.kind


def _sentence(asked: int, tally: Counter[str]) -> str:
    parts = [
        (Told.DONE, ngettext("%(n)d happened", "%(n)d happened", tally[Told.DONE])),
        (
            Told.NOT_DONE,
            ngettext(
                "%(n)d did not and is called again",
                "%(n)d did not and are called again",
                tally[Told.NOT_DONE],
            ),
        ),
        (Told.REFUSED, ngettext("%(n)d was refused", "%(n)d were refused", tally[Told.REFUSED])),
        (Settled.OPEN, _("of %(n)d the provider cannot tell")),
        (Settled.TOO_EARLY, _("for %(n)d it is too early to say")),
        (Settled.CONFLICT, _("%(n)d contradict what was decided")),
        (Settled.AGREES, _("%(n)d were settled meanwhile")),
        (_BUSY, _("%(n)d are busy, ask again")),
    ]
    told = ", ".join(text % {"n": tally[name]} for name, text in parts if tally[name])
    head = ngettext("Asked about %(n)d effect", "Asked about %(n)d effects", asked) % {"n": asked}
    return f"{head}: {told}."
