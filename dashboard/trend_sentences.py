"""What the large charts say, in a sentence each."""

from __future__ import annotations

import math

from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard import words
from monitor.reports.trends import Known, Trend


def throughput(trend: Trend) -> str:
    """How much came in and was done, and when most."""
    if not trend.received_sum and not trend.done_sum:
        return _("Nothing came in and nothing was done in this time.")
    facts = {"in": words.count(trend.received_sum), "done": words.count(trend.done_sum)}
    peak = _peak(trend.received)
    if peak is None:
        return _("%(in)s came in and %(done)s were done.") % facts
    return _("%(in)s came in and %(done)s were done; most came at %(at)s, %(most)s a second.") % {
        **facts,
        "at": _at(trend, peak),
        "most": words.rate(trend.received[peak] or 0.0),
    }


def durations(trend: Trend) -> str:
    """How long handlers took, and when longest."""
    if trend.p95_overall is None:
        return _("No handler ran in this time.")
    facts = {"span": _span(trend.p95_overall)}
    peak = _peak(trend.p95)
    if peak is None or trend.p95[peak] == trend.p95_overall:
        return _("95 of 100 runs took %(span)s, at no time more.") % facts
    return _("95 of 100 runs took %(span)s; longest at %(at)s, %(most)s.") % {
        **facts,
        "at": _at(trend, peak),
        "most": _span(trend.p95[peak] or 0.0),
    }


def shares(trend: Trend) -> str:
    """How much was sent again and how much failed, and when most."""
    if not trend.received_sum and not trend.runs_sum:
        return _("Nothing was received and no handler ran in this time.")
    ratio = trend.duplicates_sum / trend.received_sum if trend.received_sum else None
    failed = trend.failures_sum / trend.runs_sum if trend.runs_sum else None
    return _(
        "%(again)s of the deliveries were duplicates%(when)s; "
        "%(failed)s of the runs failed%(then)s."
    ) % {
        "again": words.percent(ratio),
        "when": _most(trend, trend.duplicates),
        "failed": words.percent(failed),
        "then": _most(trend, trend.failures),
    }


def _most(trend: Trend, values: Known) -> str:
    peak = _peak(values)
    if peak is None:
        return ""
    facts = {"most": words.percent(values[peak]), "at": _at(trend, peak)}
    return _(" (most, %(most)s, at %(at)s)") % facts


def _peak(values: Known) -> int | None:
    """Where the largest value of the bins that are over stands; None when none is above zero."""
    found = [(value, at) for at, value in enumerate(values[:-1]) if value]
    return max(found, key=lambda pair: (pair[0], -pair[1]))[1] if found else None


def _span(milliseconds: float) -> str:
    if math.isinf(milliseconds):
        return _("more than 60 s")
    return _("at most %(span)s") % {"span": words.milliseconds(milliseconds)}


def _at(trend: Trend, place: int) -> str:
    local = timezone.localtime(trend.starts[place])
    is_today = local.date() == timezone.localtime(trend.now).date()
    return f"{local:%H:%M}" if is_today else f"{local:%Y-%m-%d %H:%M}"
