"""What is known of an effect, in sentences: standing, evidence, and whether a retry is safe."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard import labels, words
from monitor.domain.effect import Kind, Told
from monitor.reports.effect_values import EffectRow, EvidenceRow, Recorded

_CLOCK_IS_LATE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where an effect stands. aspect: clear, caution or stop. next: what happens, or is to do."""

    aspect: str
    text: str
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Safety:
    """Whether a retry can do harm, in three words and a sentence. tone: go, caution or stop."""

    tone: str
    word: str
    text: str


def standing(row: EffectRow) -> Standing:
    """The first sentence on an effect."""
    facts = {"name": words.visible(row.name), "who": decider(row), "at": at(row.settled_at)}
    if row.conflict:
        text = _("Conflict: %(text)s") % {"text": words.visible(row.conflict)}
        return Standing(aspect="stop", text=text, next=_conflict_next(row))
    if row.state == "completed":
        text = _("“%(name)s” happened: settled by %(who)s at %(at)s.") % facts
        return Standing(aspect="clear", text=text, next=_("It is never called again."))
    if row.state == "failed":
        text = _("“%(name)s” did not happen: refused, told by %(who)s at %(at)s.") % facts
        return Standing(aspect="caution", text=text, next=_("It is not called again by itself."))
    if row.is_in_doubt:
        text = _("Nobody knows whether “%(name)s” happened.") % facts
        return Standing(aspect="stop", text=text, next=_doubt_next(row))
    if row.last_step == "not done":
        text = _("“%(name)s” did not happen: settled by %(who)s.") % facts
        return Standing(aspect="caution", text=text, next=_("The next attempt calls it again."))
    text = _("“%(name)s” is in progress.") % facts
    return Standing(aspect="caution", text=text, next=_("A worker calls it, or will."))


def decider(row: EffectRow) -> str:
    """Who settled an effect."""
    known = {
        "call": _("the call's own answer"),
        "probe": _("the provider, who was asked"),
        "callback": _("the provider's callback"),
    }
    return known.get(row.decided_by, words.visible(row.decided_by or "?"))


def told(verdict: str) -> str:
    """What a piece of evidence says."""
    known = {
        Told.DONE: _("it happened"),
        Told.NOT_DONE: _("it did not happen"),
        Told.REFUSED: _("the provider refused it"),
        Told.CANNOT_TELL: _("no answer to go by"),
    }
    return known.get(Told(verdict), verdict) if verdict in set(Told) else verdict


def source(one: EvidenceRow) -> str:
    """Where a piece of evidence is from."""
    if one.actor and one.source == "probe":
        return _("The provider, asked by %(who)s") % {"who": words.visible(one.actor)}
    if one.actor:
        return words.visible(one.actor)
    known = {
        "call": _("The call"),
        "probe": _("The provider, asked"),
        "callback": _("The provider's callback"),
        "person": _("A person"),
    }
    return known.get(one.source, one.source)


def tone(verdict: str) -> str:
    """How a piece of evidence looks."""
    known = {Told.DONE: "go", Told.NOT_DONE: "caution", Told.REFUSED: "stop"}
    return known.get(Told(verdict), "") if verdict in set(Told) else ""


def kind(name: str) -> str:
    """What the provider of an effect can do for us."""
    known = {
        Kind.KEYED: _("keyed: knows our key and acts once for it"),
        Kind.QUERYABLE: _("queryable: can be asked what became of it"),
        Kind.NEITHER: _("neither: only a person can find out"),
    }
    return known.get(Kind(name), name) if name in set(Kind) else name


def step(name: str) -> str:
    """The last thing that is known of a call."""
    known = {
        "recorded": _("recorded, not called yet"),
        "called": _("called, no answer recorded"),
        "answered": _("answered"),
        "refused": _("refused by the provider"),
        "not done": _("told not to have happened"),
        "no answer": _("called, but no answer came"),
        "asked": _("settled afterwards"),
    }
    return known.get(name, name)


def safety(recorded: Recorded | None) -> Safety:
    """What a retry of a message with these effects could do."""
    if recorded is None:
        return Safety(tone="go", word=_("safe"), text=_("safe: no effect recorded"))
    if not recorded.completed and not recorded.unknown:
        return Safety(tone="go", word=_("safe"), text=_("safe: nothing happened outside"))
    if recorded.unknown:
        text = ngettext(
            "ask first: the outcome of %(n)s effect is unknown",
            "ask first: the outcome of %(n)s effects is unknown",
            recorded.unknown,
        )
        text = text % {"n": words.count(recorded.unknown)}
        return Safety(tone="stop", word=_("ask first"), text=text)
    text = _("no-op: its effect was completed at %(at)s") % {"at": at(recorded.completed_at)}
    return Safety(tone="go", word=_("no-op"), text=text)


def safety_of_all(recorded: Recorded | None) -> Safety:
    """The same for several messages: the worst that is true of any of them."""
    found = safety(recorded)
    if recorded is None or found.tone != "go" or not recorded.completed:
        return found
    text = _("no-op: completed effects, the last at %(at)s, are not called again")
    return Safety(tone="go", word=found.word, text=text % {"at": at(recorded.completed_at)})


def recorded(rows: tuple[EffectRow, ...]) -> Recorded | None:
    """The same from the effects of one message as they are shown."""
    if not rows:
        return None
    done = [row for row in rows if row.state == "completed"]
    unknown = [
        row
        for row in rows
        if row.is_in_doubt
        or (row.state == "in progress" and row.called_at and row.last_step != "not done")
    ]
    latest = max((row.settled_at for row in done if row.settled_at), default=None)
    return Recorded(
        completed=len(done),
        unknown=len(unknown),
        without=len(rows) - len(done) - len(unknown),
        completed_at=latest,
    )


def at(moment: datetime | None) -> str:
    """A moment within a sentence, in the viewer's zone: its date only when it is not today."""
    if moment is None:
        return "—"
    local, today = timezone.localtime(moment), timezone.localtime()
    zone = "UTC" if not local.utcoffset() else local.strftime("%z")
    return (
        f"{local:%H:%M:%S} {zone}"
        if local.date() == today.date()
        else f"{local:%Y-%m-%d %H:%M:%S} {zone}"
    )


def _doubt_next(row: EffectRow) -> str:
    if row.probe_at is not None:
        overdue = timezone.now() - row.probe_at
        if overdue > _CLOCK_IS_LATE:
            return _("The clock should have asked at %(at)s; ask the provider yourself.") % {
                "at": at(row.probe_at)
            }
        if overdue >= timedelta(0):
            return _("The clock asks the provider now; you can ask it yourself.")
        return _("The clock asks the provider again at %(at)s; you can ask it now.") % {
            "at": at(row.probe_at)
        }
    if row.can_be_asked:
        return _("Nothing asks by itself any more: ask the provider, or decide.")
    return _("This provider cannot be asked: look there, then decide with what you found.")


def _conflict_next(row: EffectRow) -> str:
    if row.is_in_doubt:
        return _("Its message waits until a person has decided with the evidence below.")
    return _(
        "“%(state)s”, decided by %(who)s at %(at)s, stands: it is never overwritten. Compare the "
        "evidence, mend it at the provider, then acknowledge the alert."
    ) % {"state": labels.state(row.state), "who": decider(row), "at": at(row.settled_at)}
