"""Deploys, holds and requeues in words, and where a chart marks them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard import curves, words
from dashboard.curves import Axis
from monitor.reports.annotation import Annotation, AnnotationKind

_LONGEST = 90
_TIP_WIDTH = 200
_FLAG_WIDTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One annotation as a row: its number on the charts, what in words, and where to look.

    name: stays when the numbers move on.
    """

    number: int
    name: str
    at: datetime
    text: str
    actor: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A flag with the numbers of what happened there.

    tip_x: where the words begin, seen from the flag, so that they stay in the picture.
    """

    seconds: str  # since 1970, for the script
    x: str
    tip_x: str
    label: str
    text: str
    name: str  # of the first of them


def told(found: Sequence[Annotation]) -> list[Happening]:
    """Each with its number, oldest first."""
    return [
        Happening(
            number=number,
            name=f"{one.kind.name.lower()}-{one.target_id or 0}-{one.at.timestamp() * 1000:.0f}",
            at=one.at,
            text=_sentence(one),
            actor=words.visible(one.actor),
            url=_url(one),
        )
        for number, one in enumerate(found, start=1)
    ]


def by_bin(rows: Sequence[Happening], axis: Axis) -> dict[int, str]:
    """What happened within a bin, in words, by its place among the bins."""
    length = timedelta(seconds=axis.seconds)
    found: dict[int, list[str]] = {}
    for row in rows:
        found.setdefault(int((row.at - axis.since) / length), []).append(row.text)
    return {place: "; ".join(texts) for place, texts in found.items()}


def marks(rows: Sequence[Happening], axis: Axis) -> list[Mark]:
    """The flags of what happened; those that would lie on each other share one."""
    groups: list[list[Happening]] = []
    for row in rows:
        if groups and axis.x(row.at) - axis.x(groups[-1][0].at) < _FLAG_WIDTH:
            groups[-1].append(row)
        else:
            groups.append([row])
    return [_mark(group, axis) for group in groups]


def _mark(group: list[Happening], axis: Axis) -> Mark:
    first, last = group[0], group[-1]
    x = axis.x(first.at)
    left = max(curves.LEFT, min(x - _TIP_WIDTH / 2, curves.WIDTH - curves.RIGHT - _TIP_WIDTH))
    return Mark(
        seconds=f"{first.at.timestamp():.0f}",
        x=curves.plain(x),
        tip_x=curves.plain(left - x),
        label=str(first.number) if first is last else f"{first.number}-{last.number}",
        text="; ".join(row.text for row in group),
        name=first.name,
    )


def _sentence(one: Annotation) -> str:
    text = words.visible(one.text)
    facts = {
        "consumer": words.visible(one.consumer),
        "text": text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…",
        "before": words.visible(one.before),
        "count": words.count(one.count),
    }
    texts = {
        AnnotationKind.DEPLOY: _("Deploy of %(text)s, before it %(before)s"),
        AnnotationKind.HOLD: _("%(consumer)s held: %(text)s"),
        AnnotationKind.RESUME: _("%(consumer)s resumed"),
        AnnotationKind.HOLD_ENDED: _("%(consumer)s runs again: its hold ended"),
        AnnotationKind.REQUEUE: ngettext(
            "%(count)s message requeued", "%(count)s messages requeued together", one.count
        ),
    }
    found = texts[one.kind] % facts
    is_of_one = one.kind is AnnotationKind.REQUEUE and one.consumer
    return f"{facts['consumer']}: {found}" if is_of_one else found


def _url(one: Annotation) -> str:
    if one.kind is AnnotationKind.REQUEUE:
        return reverse("dashboard:requeues_detail", args=[one.target_id])
    if one.target_id is not None:
        return f"{reverse('dashboard:audit')}?object=consumer:{one.target_id}"
    return reverse("dashboard:system")
