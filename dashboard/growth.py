"""How a problem grows, in words and a sign."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from dashboard import words
from monitor.reports.growth import MINUTES
from monitor.reports.overview import Problem, ProblemKind

_COUNTED = {ProblemKind.DEAD_LETTER, ProblemKind.MISMATCH, ProblemKind.IN_DOUBT}
_CAP = 500  # what comes into a session is counted up to here


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """sign: an arrow for the eye. text: the same in words."""

    sign: str
    text: str


def trend(problem: Problem) -> Trend | None:
    """How a problem grew in the last 10 minutes; None where nobody counts."""
    grown = problem.grown
    if grown is None:
        return None
    facts = {"count": words.count(abs(grown), _cap(problem)), "minutes": MINUTES}
    if grown > 0:
        return Trend(sign="↗", text=_("+%(count)s in %(minutes)s min") % facts)
    if grown < 0:
        return Trend(sign="↘", text=_("\N{MINUS SIGN}%(count)s in %(minutes)s min") % facts)
    if problem.kind in _COUNTED:
        return Trend(sign="→", text=_("no more for %(minutes)s min") % facts)
    return Trend(sign="→", text=_("steady for %(minutes)s min") % facts)


def _cap(problem: Problem) -> int | None:
    return _CAP if problem.kind in (ProblemKind.HELD_SESSION, ProblemKind.GAP) else None
