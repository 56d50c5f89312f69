"""What figures mean, in sentences: the verdict, a problem, whether a retry is safe."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard import doubts, previews, words
from dashboard.doubts import Safety
from monitor.domain.states import State
from monitor.reports.duplicates import Duplicates, Producer
from monitor.reports.messages import Detail
from monitor.reports.overview import Overview, Problem, ProblemKind

_REGULAR = 0.4  # of the median: gaps whose quartiles lie closer than this come from a timer
_TELLING = 3  # duplicates: fewer say nothing about a timer
_STOP = {
    ProblemKind.NO_WORKERS,
    ProblemKind.STALLED,
    ProblemKind.CONFLICT,
    ProblemKind.IN_DOUBT,
    ProblemKind.HELD_SESSION,
    ProblemKind.GAP,
    ProblemKind.DEAD_LETTER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A sentence under a signal aspect: clear, caution or stop. aside: what else is true.

    first: the problem that the sentence is about, with its cause in words; None on a good day.
    """

    aspect: str
    text: str
    aside: str
    first: Problem | None = None
    cause: str = ""


def verdict(overview: Overview) -> Verdict:
    """The first sentence of the console: is anything wrong, and what first."""
    aside = _aside(overview)
    awake = [one for one in overview.problems if one.snoozed_until is None]
    if not awake:
        return Verdict(aspect="clear", text=_clear(overview), aside=aside)
    total = len(awake) + overview.more
    first = awake[0]
    lead = ngettext("%(count)s problem.", "%(count)s problems.", total) % {
        "count": words.count(total)
    }
    is_stop = any(one.kind in _STOP for one in awake)
    aspect = "stop" if is_stop else "caution"
    text = f"{lead} {problem(first)}"
    return Verdict(aspect=aspect, text=text, aside=aside, first=first, cause=_cause(first))


def _cause(one: Problem) -> str:
    """Why, as far as it is known: the error, the person and the reason, or what follows from it."""
    if one.title:
        return words.visible(one.title)
    return {
        ProblemKind.NO_WORKERS: _("No worker process gives a sign of life: start one."),
        ProblemKind.STALLED: _("Nothing holds it, yet nothing is done: look at its workers."),
        ProblemKind.GAP: _("Its sender left a number out, or it was lost on the way."),
        ProblemKind.MISMATCH: _("Its sender used one id for two different payloads."),
        ProblemKind.STALE_FIGURES: _("The clock process does not run."),
    }.get(one.kind, "")


def problem(one: Problem) -> str:
    """One problem as a sentence."""
    facts = {
        "consumer": words.visible(one.consumer),
        "subject": words.visible(one.subject),
        "size": words.count(one.size),
        "count": words.count(one.count),
        "numbers": previews.numbers(*one.numbers) if one.numbers else "",
    }
    texts = {
        ProblemKind.NO_WORKERS: _no_workers(one),
        ProblemKind.STALLED: _("%(consumer)s does not move; %(size)s messages wait."),
        ProblemKind.CONFLICT: _("%(consumer)s: evidence contradicts what was decided."),
        ProblemKind.IN_DOUBT: _in_doubt(one),
        ProblemKind.HELD_SESSION: _held_session(one),
        ProblemKind.GAP: _gap(one),
        ProblemKind.THROTTLED_CONSUMER: _(
            "%(consumer)s is throttled: its downstream is away; %(size)s messages wait."
        ),
        ProblemKind.HELD_CONSUMER: _held_consumer(one),
        ProblemKind.DEAD_LETTER: _dead(one),
        ProblemKind.MISMATCH: _mismatch(one),
        ProblemKind.STALE_FIGURES: _("The clock takes no figures: what you see here is old."),
    }
    return texts[one.kind] % facts


def retry_safety(detail: Detail) -> Safety | None:
    """What a retry of this message could do; None when there is nothing to say."""
    found = doubts.safety(doubts.recorded(detail.effects))
    if detail.done is not None:
        at = doubts.at(detail.done.at)
        text = _("no-op: completed at %(at)s, and the inbox refuses a second run") % {"at": at}
        return Safety(tone="go", word=_("no-op"), text=text)
    if detail.dead is None and detail.row.state != State.IN_DOUBT:
        return None if found.tone == "go" and not detail.effects else found
    if found.word == _("safe") and detail.row.state == State.DISCARDED:
        text = _("It never took effect: every attempt was rolled back before it was discarded.")
        return Safety(tone="go", word=found.word, text=text)
    return Safety(tone=found.tone, word=found.word, text=f"{found.text}. {_because(found.tone)}")


def _because(tone: str) -> str:
    if tone == "go":
        return _(
            "Every attempt was rolled back as a whole, what was called outside is not called "
            "again, and the message runs at its own place in its session."
        )
    return _("Settle it on the Reconcile page first: a retry could do it a second time.")


def duplicates(figures: Duplicates) -> str:
    """What the chart of duplicates says."""
    if not figures.received_window:
        return _("Nothing was received in this time.")
    peak = max(
        range(len(figures.minutes)),
        key=lambda at: sum(one.values[at] for one in figures.series),
        default=None,
    )
    if peak is None or not figures.duplicates_window:
        return _("%(received)s deliveries, none of them a duplicate.") % {
            "received": words.count(figures.received_window)
        }
    return _(
        "%(ratio)s of %(received)s deliveries were duplicates; most, %(most)s in one minute, "
        "at %(at)s."
    ) % {
        "ratio": words.percent(figures.ratio_window),
        "received": words.count(figures.received_window),
        "most": words.count(sum(one.values[peak] for one in figures.series)),
        "at": timezone.localtime(figures.minutes[peak]).strftime("%H:%M"),
    }


def sampled(figures: Duplicates) -> str:
    """From when on the kept duplicates tell who sent them."""
    return _("By origin and type only since %(at)s, from the newest that are kept.") % {
        "at": timezone.localtime(figures.sampled_since).strftime("%H:%M")
    }


def likely_cause(producer: Producer) -> str:
    """What probably makes a producer's messages come again, and what to do about it."""
    early, middle, late = producer.gap_seconds
    facts = {"gap": words.duration(middle)}
    if producer.cause == "concurrent":
        return _(
            "It came again while the first was being processed: a lock or visibility timeout "
            "shorter than its handler, or a sender that does not wait for the answer."
        )
    if producer.cause == "redelivered":
        return _(
            "Its broker delivered again what was not acknowledged: a consumer that was killed or "
            "disconnected, or that takes longer than the broker waits."
        )
    if producer.cause == "operator":
        return _("A person sent it again.")
    if producer.count >= _TELLING and middle and late - early <= _REGULAR * middle:
        text = _("Its sender retries after %(gap)s although the first was taken: its time limit.")
    else:
        text = _("Its sender sent it anew, mostly after %(gap)s: a replay, or a restart.")
    return text % facts


def gaps(figures: Duplicates) -> str:
    """Whether keys are kept long enough for the duplicates that come."""
    if figures.longest_gap_seconds is None:
        return _("No duplicate yet, so no gap to measure.")
    share = figures.longest_gap_seconds / figures.retention_seconds
    facts = {
        "sampled": words.count(figures.gaps_sampled),
        "longest": words.duration(figures.longest_gap_seconds),
        "kept": words.duration(figures.retention_seconds),
        "share": words.percent(share),
    }
    if share > 0.5:  # noqa: PLR2004 - half of the retention is where one should act
        return (
            _(
                "Of the newest %(sampled)s duplicates the latest came %(longest)s after its first: "
                "%(share)s of the %(kept)s that keys are kept. Keep them longer."
            )
            % facts
        )
    return (
        _(
            "Of the newest %(sampled)s duplicates the latest came %(longest)s after its first; "
            "keys are kept %(kept)s, which is far longer."
        )
        % facts
    )


def _clear(overview: Overview) -> str:
    if overview.problems:
        return ngettext(
            "Nothing new. %(count)s problem is snoozed.",
            "Nothing new. %(count)s problems are snoozed.",
            len(overview.problems),
        ) % {"count": words.count(len(overview.problems))}
    active = sum(1 for row in overview.consumers if row.active)
    if not active:
        return _("Nothing runs yet: no consumer is declared.")
    facts = {"count": words.count(active), "rate": words.rate(overview.totals.done_per_second)}
    return (
        ngettext(
            "All clear. %(count)s consumer keeps up; %(rate)s messages a second are done.",
            "All clear. %(count)s consumers keep up; %(rate)s messages a second are done.",
            active,
        )
        % facts
    )


def _aside(overview: Overview) -> str:
    totals = overview.totals
    return _(
        "%(in)s in and %(done)s done a second, %(backlog)s waiting, %(parked)s of them parked; "
        "%(duplicates)s duplicates."
    ) % {
        "in": words.rate(totals.received_per_second),
        "done": words.rate(totals.done_per_second),
        "backlog": words.count(totals.backlog),
        "parked": words.count(totals.parked),
        "duplicates": words.percent(totals.duplicate_ratio),
    }


def _no_workers(one: Problem) -> str:
    return ngettext(
        "No worker runs, and %(size)s message waits.",
        "No worker runs, and %(size)s messages wait.",
        one.size,
    )


def _held_session(one: Problem) -> str:
    if one.count > 1:
        return _("%(count)s sessions of %(consumer)s are held; %(size)s messages wait in them.")
    if one.verb == "resume":
        return _("Session %(subject)s of %(consumer)s is held by an operator; %(size)s wait in it.")
    return _("Session %(subject)s of %(consumer)s is held by its dead head; %(size)s wait behind.")


def _gap(one: Problem) -> str:
    if one.count > 1:
        return _(
            "%(count)s sessions of %(consumer)s wait for a missing number; %(size)s messages wait "
            "in them."
        )
    return _("Session %(subject)s of %(consumer)s waits for %(numbers)s; %(size)s wait behind.")


def _in_doubt(one: Problem) -> str:
    if one.count > 1:
        return _(
            "%(count)s calls to the outside by %(consumer)s have no known outcome; "
            "%(size)s messages wait behind them."
        )
    return _(
        "Nobody knows whether “%(subject)s” of %(consumer)s happened; %(size)s messages wait "
        "behind it."
    )


def _held_consumer(one: Problem) -> str:
    if not one.size:
        return _("%(consumer)s is held by an operator; nothing waits for it.")
    return ngettext(
        "%(consumer)s is held by an operator; %(size)s message waits.",
        "%(consumer)s is held by an operator; %(size)s messages wait.",
        one.size,
    )


def _dead(one: Problem) -> str:
    return ngettext(
        "%(count)s message of %(consumer)s is dead: it needs a decision.",
        "%(count)s messages of %(consumer)s are dead of one cause.",
        one.count,
    )


def _mismatch(one: Problem) -> str:
    return ngettext(
        "%(count)s delivery for %(consumer)s has a known key but another payload.",
        "%(count)s deliveries for %(consumer)s have a known key but another payload.",
        one.count,
    )
