"""How far a requeue of many is: a bar of parts, and the sentence that says the same."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard import words
from monitor.reports.requeues import RequeueRow

_WIDTH = 1000  # of the bar's own units


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of the bar: its tone and word, how many messages, and its place."""

    tone: str
    word: str
    count: int
    x: int
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The signal, the sentence and the bar. may_go_on, may_stop: which verbs make sense."""

    aspect: str
    text: str
    parts: tuple[Part, ...]
    may_go_on: bool
    may_stop: bool


def standing(row: RequeueRow) -> Standing:
    """How a requeue stands."""
    return Standing(
        aspect=_aspect(row),
        text=_text(row) % {"left": words.count(row.left), "why": words.visible(row.why)},
        parts=_parts(row),
        may_go_on=row.state in ("waiting", "stopped") and row.left > 0,
        may_stop=row.state in ("canary", "running"),
    )


def _aspect(row: RequeueRow) -> str:
    if row.state == "stopped" or row.failed_again:
        return "stop" if row.state == "stopped" and row.left else "caution"
    return "clear" if row.state == "done" and not row.unknown else "caution"


def _text(row: RequeueRow) -> str:
    if row.state == "running":
        return ngettext(
            "It runs: %(left)s message is still to come.",
            "It runs: %(left)s messages are still to come.",
            row.left,
        )
    texts = {
        "canary": _("One message went ahead; %(left)s wait for its outcome."),
        "waiting": _("It waits for you: %(why)s. %(left)s are left."),
        "stopped": _("Stopped: %(why)s. %(left)s stay dead."),
    }
    return texts.get(row.state) or _ended(row)


def _ended(row: RequeueRow) -> str:
    if row.unknown:
        return _("All are back in the queue; some still wait for their outcome.")
    if row.failed_again:
        return _("All have an outcome; some failed again.")
    return _("All were processed.")


def _parts(row: RequeueRow) -> tuple[Part, ...]:
    counts = (
        ("go", _("processed"), row.processed),
        ("stop", _("failed again"), row.failed_again),
        ("accent", _("outcome not known yet"), row.unknown),
        ("quiet", _("not dead any more"), row.gone),
        ("caution", _("refused"), row.refused),
        ("rest", _("still dead"), row.left),
    )
    found, at = [], 0
    for tone, word, count in counts:
        width = round(_WIDTH * count / row.total) if row.total else 0
        if count:
            found.append(Part(tone=tone, word=word, count=count, x=at, width=max(width, 2)))
            at += max(width, 2)
    return tuple(found)
