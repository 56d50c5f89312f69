"""Filters and tags of the console's templates: ages, counts, states, icons and verbs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from hashlib import blake2s
from typing import Any
from uuid import uuid4

from django import template
from django.template import Context
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard import doubts, forms, health_words, labels, previews
from dashboard import words as words_module
from dashboard.frame import KEYS, Station
from monitor.domain.actor import Permission
from monitor.domain.states import DeadReason, State
from monitor.reports.effect_values import Recorded
from monitor.reports.messages import MessageRow
from monitor.reports.overview import Problem
from monitor.reports.triage import Group

register = template.Library()

register.filter("visible", words_module.visible)
register.filter("count", words_module.count)
register.filter("capped", words_module.count)
register.filter("bytes", words_module.size)
register.filter("duration", words_module.duration)
register.filter("milliseconds", words_module.milliseconds)
register.filter("rate", words_module.rate)
register.filter("percent", words_module.percent)
register.filter("state_word", lambda name: labels.state(str(name)))
register.filter("dead_word", labels.reason)
register.filter("cause_word", labels.cause)
register.filter("alert_word", labels.alert)
register.filter("moment_word", labels.moment)
register.filter("permission_word", labels.permission)
register.filter("difference", health_words.difference)
register.filter("way_word", labels.way)
register.filter("effect_list_word", labels.effect_list)
register.filter("step_word", doubts.step)
register.filter("kind_word", doubts.kind)
register.filter("told_word", doubts.told)
register.filter("told_tone", doubts.tone)
register.filter("evidence_source", doubts.source)
register.filter("decider", doubts.decider)


@register.filter
def plain(value: object) -> str:
    """A number for attributes and addresses, in digits whatever the language."""
    return str(value)


@register.filter(name="words")
def split_words(text: str) -> list[str]:
    """The words of a text as a list, for a loop."""
    return text.split()


@register.filter(name="sorted")
def in_order(values: Iterable[Any]) -> list[Any]:
    """The values in their order."""
    return sorted(values)


@register.filter
def when(at: datetime | None) -> str:
    """A moment in the viewer's zone, with its offset: "2026-07-01 02:07:41 +00:00"."""
    if at is None:
        return "—"
    local = timezone.localtime(at)
    offset = local.strftime("%z")
    return f"{local:%Y-%m-%d %H:%M:%S} {offset[:3]}:{offset[3:]}"


@register.filter
def local_input(at: datetime | None) -> str:
    """A moment as the value of a datetime-local field: the viewer's time, without its zone."""
    return "" if at is None else f"{timezone.localtime(at):%Y-%m-%dT%H:%M}"


@register.filter
def iso(at: datetime | None) -> str:
    """A moment as a form sends it on."""
    return "" if at is None else at.isoformat()


@register.simple_tag
def age(at: datetime | None) -> str | SafeString:
    """How long ago, counting on in the browser; the exact moment stands in the tooltip."""
    if at is None:
        return "—"
    seconds = (timezone.now() - at).total_seconds()
    return format_html(
        '<time datetime="{}" title="{}" data-age>{}</time>',
        at.isoformat(),
        when(at),
        words_module.duration(seconds),
    )


@register.simple_tag
def moment(at: datetime | None) -> str | SafeString:
    """The exact moment as a time element, with its date only when it is not today."""
    if at is None:
        return "—"
    local, today = timezone.localtime(at), timezone.localtime()
    text = f"{local:%H:%M:%S}" if local.date() == today.date() else f"{local:%Y-%m-%d %H:%M:%S}"
    offset = (
        "UTC" if not local.utcoffset() else f"{local.strftime('%z')[:3]}:{local.strftime('%z')[3:]}"
    )
    return format_html(
        '<time datetime="{}" title="{}">{} {}</time>', at.isoformat(), when(at), text, offset
    )


@register.simple_tag
def icon(name: str) -> SafeString:
    """A picture of the sprite; decoration only, so a word always stands beside it."""
    return format_html(
        '<svg class="icon" viewBox="0 0 {0} {0}" aria-hidden="true"><use href="{1}#{2}"/></svg>',
        24 if name == "mark" else 16,
        static("dashboard/icons.svg"),
        name,
    )


@register.simple_tag
def style(name: str) -> str:
    """The address of a stylesheet."""
    return static(f"dashboard/{name}.css")


@register.simple_tag
def click() -> str:
    """The name of the one click that this form is for."""
    return str(uuid4())


@register.simple_tag
def numbers(first: int, last: int) -> str:
    """One number of a session or several, in words."""
    return previews.numbers(first, last)


@register.simple_tag
def row_badge(row: MessageRow) -> SafeString:
    """The state of a message; a delayed and a stale one by their own words."""
    return badge(_told(row), row.parked)


@register.simple_tag
def badge(state: object, parked: bool = False) -> SafeString:
    """A state as word, shape and colour."""
    name = _standing(state, parked=parked)
    return format_html(
        '<span class="badge" data-state="{}">{}<span class="word">{}</span></span>',
        labels.LOOKS.get(name, name),
        icon(labels.STATE_ICONS.get(name, name)),
        labels.state(name),
    )


@register.simple_tag
def car_icon(row: MessageRow) -> SafeString:
    """The picture of a message's state in a train."""
    name = _standing(_told(row), parked=row.parked)
    return icon(labels.STATE_ICONS.get(name, name))


@register.simple_tag
def car_word(row: MessageRow) -> str:
    """The word of a message's state in a train."""
    return labels.state(_standing(_told(row), parked=row.parked))


@register.simple_tag
def retry_safety(recorded: Recorded | None, of_all: bool = False) -> SafeString:
    """Whether a retry can do harm, in words: safe, no-op, or ask first."""
    found = (doubts.safety_of_all if of_all else doubts.safety)(recorded)
    return format_html(
        '<span class="safety" data-tone="{}">{}{}</span>',
        found.tone,
        icon("shield" if found.tone == "go" else "reconcile"),
        found.text,
    )


@register.filter
def aspect(kind: str) -> str:
    """The signal of a kind of problem."""
    return "caution" if kind in labels.MILD_PROBLEMS else "stop"


@register.filter
def fingerprint(text: str) -> str:
    """A short name for a text, the same as long as the text is: an element id for a cause."""
    return blake2s(text.encode(errors="replace"), digest_size=6).hexdigest()


@register.filter
def group_mark(group: Group) -> str:
    """A short name for a group: it stays when its newest alert changes."""
    return fingerprint(f"{group.kind}|{group.consumer_id}|{group.cause}")


@register.filter
def problem_id(problem: Problem) -> str:
    """The element id of a problem: it stays with the problem when the order changes."""
    owner = f"{problem.consumer_id}-{problem.target_id}"
    return f"problem-{problem.kind.name.lower()}-{owner}-{fingerprint(problem.subject)}"


@register.filter
def problem_icon(kind: str) -> str:
    """The picture of a kind of problem."""
    return labels.PROBLEM_ICONS.get(str(kind), "warn")


@register.simple_tag
def problem_url(problem: Problem) -> str:
    """The page where a problem can be looked at."""
    if problem.session_id is not None:
        return reverse("dashboard:sessions_detail", args=[problem.session_id])
    if problem.target_kind == "cause":
        wanted = forms.link(cause=problem.subject, consumer=problem.consumer_id)
        return f"{reverse('dashboard:dead_letters')}{wanted}"
    if problem.target_kind == "effect" and problem.count > 1:
        return f"{reverse('dashboard:reconcile')}{forms.link(consumer=problem.consumer_id)}"
    nouns = {
        "message": "messages",
        "consumer": "consumers",
        "mismatch": "mismatches",
        "effect": "reconcile",
    }
    noun = nouns.get(problem.target_kind)
    if noun is None:
        return reverse("dashboard:system")
    return reverse(f"dashboard:{noun}_detail", args=[problem.target_id])


@register.simple_tag
def station_url(station: Station) -> str:
    """The address of a page of the rail."""
    return reverse(f"dashboard:{station.noun}")


@register.filter
def key_of(noun: str) -> str:
    """The key that goes to a page after g."""
    return KEYS.get(noun, "")


@register.inclusion_tag("dashboard/shared/_verb.html", takes_context=True)
def verb(context: Context, name: str, label: str, **options: Any) -> dict[str, Any]:
    """A button that uses a verb: what it says is what it will touch.

    Options: id, seen, needs (operate), icon, kind, size, ask (required or optional reason), note,
    minutes, reference, cause, consumer, hot (the key r goes to it), snooze (the key s does), place
    (tells buttons apart). With ask="fields" it asks by the template fields, which gets the values.
    """
    needs = Permission(options.get("needs", "operate"))
    number = options.get("id")
    url = reverse(f"dashboard:{name}", args=[] if number is None else [number])
    why = _("This needs the permission “%(name)s”; ask an administrator.") % {"name": needs.value}
    return {
        "request": context["request"],
        "csrf_token": context.get("csrf_token"),
        "url": url,
        "label": label,
        "allowed": needs in context["actor"].permissions,
        "why": why,
        "key": f"{name}-{number if number is not None else options.get('place', '')}"
        + (f"-{options['place']}" if number is not None and options.get("place") else ""),
        "seen": options.get("seen", 0),
        "kind": options.get("kind", ""),
        "size": options.get("size", ""),
        "ask": options.get("ask", ""),
        "note": options.get("note", ""),
        "minutes": options.get("minutes", False),
        "reference": options.get("reference", False),
        "cause": options.get("cause", ""),
        "consumer": options.get("consumer"),
        "hot": options.get("hot", False),
        "snooze": options.get("snooze", False),
        "fields": options.get("fields", ""),
        "values": options.get("values", ()),
        "icon_name": options.get("icon", ""),
    }


def _told(row: MessageRow) -> object:
    if row.due_at is not None and row.state == State.WAITING:
        return "delayed"
    return "stale" if row.state == State.DEAD and row.reason == DeadReason.STALE else row.state


def _standing(state: object, *, parked: bool) -> str:
    if parked:
        return "parked"
    return str(state) if state else "purged"
