"""Filters of the template that shows a timeline."""

from __future__ import annotations

from collections.abc import Callable

from django import template
from django.utils.translation import gettext as _

from dashboard import doubts, labels, words
from monitor.reports.effect_values import Lease
from monitor.reports.messages import Moment

register = template.Library()


@register.filter
def moment_text(one: Moment) -> str:
    """What an entry of a time line says, in a sentence."""
    told = _TOLD.get(one.kind)
    if told is not None:
        return told(one)
    if one.kind in ("in doubt", "settled") and one.detail.get("effect") and not one.text:
        return _("“%(effect)s”") % {"effect": words.visible(one.detail["effect"])}
    return words.visible(one.text)


@register.filter
def moment_tone(one: Moment) -> str:
    """How an entry of a time line looks: an act of a person, good or bad."""
    if one.kind == "evidence" and not one.actor:
        return doubts.tone(one.detail["evidence"].verdict)
    return "human" if one.actor else labels.TONES.get(one.kind, "")


def _effect(one: Moment) -> str:
    facts = {name: words.visible(one.detail[name]) for name in ("effect", "key")}
    return _("“%(effect)s” under the key %(key)s") % facts


def _evidence(one: Moment) -> str:
    found = one.detail["evidence"]
    facts = {"effect": words.visible(one.detail["effect"]), "source": doubts.source(found)}
    facts["told"] = doubts.told(found.verdict)
    return _("“%(effect)s”: %(told)s. Told by: %(source)s.") % facts


def _lease(one: Moment) -> str:
    held: Lease = one.detail["lease"]
    facts = {
        "holder": words.visible(held.holder),
        "fence": held.fence,
        "renewals": words.count(held.renewals),
        "until": doubts.at(held.expires_at),
    }
    if not held.is_live:
        return _("%(holder)s let it run out (fence %(fence)d); any worker may take it.") % facts
    return _("%(holder)s, fence %(fence)d, renewed %(renewals)s times, until %(until)s") % facts


def _parked(one: Moment) -> str:
    facts = {"id": one.detail["message_id"], "state": labels.state(one.detail["state"])}
    return _("Message %(id)d of its session is %(state)s.") % facts


def _reveal(one: Moment) -> str:
    known = {"edited": _("in the editor"), "downloaded": _("as a download")}
    told = (known.get(str(one.detail.get("how")), ""), words.visible(one.text))
    return " · ".join(each for each in told if each)


_TOLD: dict[str, Callable[[Moment], str]] = {
    "effect": _effect,
    "evidence": _evidence,
    "lease": _lease,
    "parked": _parked,
    "reveal": _reveal,
}
