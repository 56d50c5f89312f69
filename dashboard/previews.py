"""What runs next after a verb, in sentences."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard import words
from dashboard.doubts import at
from monitor.reports.preview import Next, Preview, Previews, Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A preview as it is shown: what comes before the list, the messages, what comes after."""

    verb: str
    before: str
    rows: tuple[Next, ...]
    after: str

    @property
    def line(self) -> str:
        """Everything in one line, for the question of a verb."""
        names = ", ".join(named(one) for one in self.rows)
        shown = _("Runs next: %(names)s.") % {"names": names} if names else ""
        return " ".join(part for part in (self.before, shown, self.after) if part)


def of_session(found: Previews) -> list[Told]:
    """Each verb that lets a session go on, with what runs after it."""
    known = (
        (_("Requeue head"), found.requeue_head),
        (_("Skip head"), found.skip_head),
        (_("Skip gap"), found.skip_gap),
    )
    return [told(verb, preview) for verb, preview in known if preview is not None]


def told(verb: str, preview: Preview) -> Told:
    """One preview in words."""
    return Told(
        verb=verb,
        before=" ".join([*_given(preview), *map(_stop, preview.stops)]),
        rows=preview.next,
        after=_after(preview),
    )


def numbers(first: int, last: int) -> str:
    """One number or several."""
    if first == last:
        return _("number %(first)d") % {"first": first}
    return _("numbers %(first)d to %(last)d") % {"first": first, "last": last}


def named(one: Next) -> str:
    """A message by its number and id."""
    if one.number is None:
        return _("message %(id)d") % {"id": one.id}
    return _("number %(number)d (message %(id)d)") % {"number": one.number, "id": one.id}


def _given(preview: Preview) -> list[str]:
    if preview.given_up is not None:
        text = _("Given up: %(numbers)s; should one still come, it is stale.")
        late = _("Number %(number)d is there, delayed by its sender until %(at)s: it gets stale.")
        return [
            text % {"numbers": numbers(*preview.given_up)},
            *(late % {"number": one.number, "at": at(one.due_at)} for one in preview.delayed),
        ]
    if preview.without is not None:
        text = _("It goes on without message %(id)d, which stays among the dead letters.")
        return [text % {"id": preview.without}]
    if preview.is_late:
        return [_("It runs late: later ones of its session are done.")]
    if len(preview.next) > 1 and preview.next[0].id == preview.message_id:
        return [_("It runs before its followers, at its own place.")]
    return []


def _stop(stop: Stop) -> str:
    texts = {
        "consumer held": _("First its consumer must be resumed."),
        "held": _("First the session must be resumed: %(who)s holds it."),
        "dead head": _("First something must become of its dead head, message %(id)s."),
        "in doubt": _("First the outcome of message %(id)s, in doubt, must be known."),
        "retry": _("First message %(id)s, which failed, has its next attempt."),
    }
    return texts[stop.kind] % {"who": words.visible(stop.who), "id": stop.message_id}


def _after(preview: Preview) -> str:
    found = []
    if preview.more:
        found.append(_("And so on."))
    if preview.stale:
        text = ngettext(
            "%(count)s message that waits came behind its number: it is set aside as stale.",
            "%(count)s messages that wait came behind their numbers: they are set aside as stale.",
            preview.stale,
        )
        found.append(text % {"count": words.count(preview.stale)})
    if preview.gap is not None:
        missing, before = preview.gap
        text = _("Then it waits for %(numbers)s; %(before)d is there.")
        found.append(text % {"numbers": numbers(missing, before - 1), "before": before})
    elif not preview.next and not preview.stale:
        found.append(_("Nothing else waits."))
    return " ".join(found)
