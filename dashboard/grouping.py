"""What a group of alerts is, in words: why it stands together, and what its snooze does."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard import doubts, forms, words
from dashboard.charts import Spark, spark
from monitor.domain.states import AlertKind
from monitor.domain.triage import GroupState
from monitor.reports.triage import Group
from monitor.reports.triage_members import MOST_COMPARED, Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A group as its row shows it. url: its page. title: its newest error, or newest alert."""

    group: Group
    url: str
    title: str
    sleep: str


def shown(group: Group) -> Shown:
    """A group with the words of its row."""
    return Shown(
        group=group,
        url=reverse("dashboard:triage_detail", args=[group.id]),
        title=group.dead.sample_error if group.dead else group.title,
        sleep=sleep(group),
    )


def basis(kind: str) -> str:
    """What alerts of a kind must share to stand in one group."""
    return {
        AlertKind.DEAD_LETTER: _(
            "Compared: the class of the error, its first line without what varies (numbers, "
            "addresses, quoted parts), and the frames of your own code. All three are equal."
        ),
        AlertKind.HELD_SESSION: _(
            "Sessions of this consumer that are held by the same failure of their heads, or by "
            "the same person for the same reason."
        ),
        AlertKind.EFFECT_IN_DOUBT: _(
            "Calls of the same effect that were left without an outcome by errors of the same text."
        ),
        AlertKind.MISMATCH: _(
            "Deliveries of one type by one entrance that came again under a known key with "
            "another payload."
        ),
        AlertKind.CONFLICT: _("Evidence against what was decided about calls of the same effect."),
        AlertKind.GAP: _("Sessions of this consumer that wait too long for a missing number."),
    }[AlertKind(kind)]


def sameness(why: Why) -> str:
    """How many of those looked at share all that was compared."""
    facts = {"same": words.count(why.same), "looked": words.count(why.looked)}
    if why.looked == MOST_COMPARED:
        return _("The same in %(same)s of the newest %(looked)s.") % facts
    return _("The same in %(same)s of %(looked)s.") % facts


def trend(why: Why) -> Spark | None:
    """When those looked at died, as a line from the first to the last."""
    title = _("%(looked)s died from %(first)s to %(last)s") % {
        "looked": words.count(why.looked),
        "first": doubts.at(why.first_at),
        "last": doubts.at(why.last_at),
    }
    return spark(why.per_slot, title)


def sleep(group: Group) -> str:
    """Until when it sleeps, and who said so; "" when it does not."""
    if group.state != GroupState.SNOOZED:
        return ""
    facts = {"until": doubts.at(group.snoozed_until), "by": words.visible(group.snoozed_by)}
    return _("until %(until)s, by %(by)s") % facts


def woken(group: Group) -> str:
    """Why a snooze that would still hold does not; "" when there is none."""
    is_pending = group.snoozed_until is not None and group.snoozed_until > timezone.now()
    if not is_pending or group.state in (GroupState.SNOOZED, GroupState.RESOLVED):
        return ""
    facts = {
        "until": doubts.at(group.snoozed_until),
        "by": words.visible(group.snoozed_by),
        "then": words.count(group.snoozed_raised),
        "now": words.count(group.raised),
    }
    if group.snoozed_at is not None and group.snoozed_at < group.began_at:
        return _("%(by)s snoozed it until %(until)s; it was gone, and came back.") % facts
    return (
        _("%(by)s snoozed it until %(until)s; it was raised %(then)s times then, and %(now)s now.")
        % facts
    )


def failure_url(group: Group) -> str:
    """The dead letters that hold the sessions of a group; "" when a person holds them."""
    if group.kind != AlertKind.HELD_SESSION or group.cause.startswith("held by "):
        return ""
    link = forms.link(cause=group.cause, consumer=group.consumer_id)
    return f"{reverse('dashboard:dead_letters')}{link}"
