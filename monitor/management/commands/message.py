"""Tells what the console's page of a message tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from monitor.domain.actor import Permission
from monitor.domain.errors import PermissionRefusedError, RefusedError
from monitor.management import acting, naming
from monitor.management.acting import as_json, shown
from monitor.operations import revealing
from monitor.reports import payloads, revealed
from monitor.reports.message_values import Detail, Moment
from monitor.reports.payloads import PayloadView


class Command(BaseCommand):
    """./manage.py message ID."""

    help = (
        "Tell everything about a message. Its payload is shown to --as NAME who may reveal "
        "payloads, with what is redacted left out; --reveal shows all of it, and is an act."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Which message, and for whom."""
        parser.add_argument("id", type=naming.row_id, metavar="ID", help="the message")
        parser.add_argument("--as", dest="actor", metavar="NAME", help="who looks at the payload")
        parser.add_argument("--reveal", action="store_true", help="with nothing redacted; audited")
        parser.add_argument("--reason", default="", metavar="TEXT", help="why it is revealed")
        parser.add_argument("--json", action="store_true", help="as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write it. CommandError with exit status 4 when the payload may not be shown."""
        found = naming.message(options["id"])
        view = _payload(found, options)
        if options["json"]:
            whole = asdict(found) | {"payload": None if view is None else _plain(view)}
            self.stdout.write(as_json(whole if view else _without_bodies(whole)))
            return
        for line in _lines(found):
            self.stdout.write(line)
        if view is not None:
            self.stdout.write(f"payload: {view.kind}, {view.payload_bytes} bytes")
            self.stdout.write(view.text)


def _payload(found: Detail, options: dict[str, Any]) -> PayloadView | None:
    """What may be shown of the payload; None without --as."""
    if options["actor"] is None:
        if options["reveal"]:
            raise CommandError("--reveal needs --as NAME: the audit keeps who looked.")
        return None
    actor = acting.person(options["actor"])
    try:
        actor.require(Permission.REVEAL_PAYLOAD)
        if not options["reveal"]:
            return payloads.of_message(found.row.id)
        revealing.note_reveal(
            actor, ("message", found.row.id), how="shown", reason=options["reason"]
        )
    except PermissionRefusedError as error:
        raise CommandError(str(error), returncode=acting.FORBIDDEN) from error
    except RefusedError as error:
        raise CommandError(str(error), returncode=acting.REFUSED) from error
    whole = revealed.of_message(found.row.id)
    return next((each.view for each in whole.parts), None) if whole else None


def _plain(view: PayloadView) -> dict[str, Any]:
    names = ("kind", "content_type", "payload_bytes", "truncated", "redacted", "text")
    return {name: getattr(view, name) for name in names}


def _without_bodies(value: Any) -> Any:
    """The same without results and what was learnt of effects: they may hold what payloads hold."""
    if isinstance(value, dict):
        hidden = {"result", "detail"} if {"verdict", "milliseconds"} & set(value) else set()
        return {name: _without_bodies(each) for name, each in value.items() if name not in hidden}
    if isinstance(value, tuple | list):
        return [_without_bodies(each) for each in value]
    return value


def _lines(found: Detail) -> Iterator[str]:
    row = found.row
    state = "purged" if row.state is None else str(row.state)
    yield f"message {row.id}: {state}{' (parked)' if row.parked else ''}"
    yield f"consumer: {shown(row.consumer)}"
    yield f"key: {shown(row.key)}"
    yield f"origin: {shown(row.origin)}, source: {shown(row.source)}, type: {shown(row.type)}"
    if row.session_id:
        number = "" if row.sequence is None else f", number {row.sequence}"
        yield f"session: {shown(row.session)} (id {row.session_id}){number}"
    if found.dead is not None:
        yield f"dead: {found.dead.reason}, {found.dead.attempts} attempts"
        yield f"error: {shown(f'{found.dead.error_class}: {found.dead.error}')}"
    yield f"duplicates: {found.duplicates_count}, mismatches: {found.mismatches_count}"
    for effect in found.effects:
        yield f"effect {effect.id}: {shown(effect.name)}, {effect.state}, key {shown(effect.key)}"
    for name, value in found.headers:
        yield f"header {shown(name)}: {shown(value)}"
    for one in found.timeline:
        yield _moment(one)
    if found.version:
        yield f"version: {found.version} (what --seen names)"


def _moment(one: Moment) -> str:
    by = f" by {shown(one.actor)}" if one.actor else ""
    attempt = f" (attempt {one.attempt})" if one.attempt else ""
    text = f": {shown(one.text)}" if one.text else ""
    return f"{one.at:%Y-%m-%d %H:%M:%S.%f %z} {shown(one.kind)}{attempt}{by}{text}"
