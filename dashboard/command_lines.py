"""The command lines that do what the buttons of a page do, ready to be copied into a shell."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from django.utils.translation import gettext as _

from dashboard.forms import DeadLetterFilter
from monitor.domain.actor import Actor, Permission
from monitor.domain.consumer import NO_CONSUMER
from monitor.domain.states import State
from monitor.reports.messages import Detail
from monitor.reports.requeues import Plan

_PROGRAM = "./manage.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """What it does, in words, and the line."""

    label: str
    text: str


def of_message(found: Detail, actor: Actor) -> tuple[CommandLine, ...]:
    """What the page of a message shows, and each of its verbs that this person may use now."""
    number = str(found.row.id)
    lines = [CommandLine(label=_("Show this"), text=_line("message", number))]
    if Permission.REVEAL_PAYLOAD in actor.permissions:
        text = _line("message", number, "--reveal", "--as", actor.name)
        lines.append(CommandLine(label=_("Reveal its payload"), text=text))
    seen = ("--seen", str(found.version), "--as", actor.name)
    is_senior = Permission.DECIDE in actor.permissions
    if found.row.state == State.DEAD and Permission.OPERATE in actor.permissions:
        lines.append(CommandLine(label=_("Requeue"), text=_line("requeue", number, *seen)))
    if found.row.state == State.DEAD and is_senior:
        if found.row.consumer_id != NO_CONSUMER:
            text = _line("replay", number, "corrected.json", *seen, "--reason", "…")
            lines.append(CommandLine(label=_("Correct and replay"), text=text))
        text = _line("discard", number, *seen, "--reason", "…")
        lines.append(CommandLine(label=_("Discard"), text=text))
    if found.row.state == State.DISCARDED and is_senior:
        lines.append(CommandLine(label=_("Restore"), text=_line("restore", number, *seen)))
    return tuple(lines)


def of_plan(wanted: DeadLetterFilter, plan: Plan, actor: Actor) -> tuple[CommandLine, ...]:
    """The requeue of a filter as its plan shows it; none for who may not requeue."""
    if Permission.OPERATE not in actor.permissions or not plan.count:
        return ()
    names = {
        "--cause": wanted.cause,
        "--consumer": None if wanted.consumer is None else str(wanted.consumer),
        "--session": None if wanted.session is None else str(wanted.session),
    }
    scope = [part for name, value in names.items() if value for part in (name, value)] or ["--all"]
    rest = ("--up-to", str(plan.max_version), "--as", actor.name)
    return (
        CommandLine(
            label=_("Requeue one first"), text=_line("requeue", *scope, *rest, "--one-first")
        ),
        CommandLine(label=_("Requeue all"), text=_line("requeue", *scope, *rest)),
    )


def _line(*parts: str) -> str:
    return " ".join([_PROGRAM, *map(_quoted, parts)])


def _quoted(text: str) -> str:
    """The text as one word of a shell; what cannot be seen is written as an escape of bash."""
    if text.isprintable():
        return f'"{text}"' if text == "…" else shlex.quote(text)
    escaped = "".join(
        each if each.isprintable() and each not in "\\'" else _escaped(each) for each in text
    )
    return f"$'{escaped}'"


def _escaped(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    return "".join(f"\\x{each:02x}" for each in character.encode(errors="replace"))
