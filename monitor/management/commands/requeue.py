"""Lets dead messages run again: some by their ids, or all of a cause, a consumer or a session."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from monitor.domain.actor import Actor
from monitor.domain.errors import PermissionRefusedError, RefusedError
from monitor.domain.scope import Scope
from monitor.management import naming
from monitor.management.acting import VerbCommand, shown
from monitor.operations import Done, bulk, messages
from monitor.reports import requeues


class Command(VerbCommand):
    """./manage.py requeue ID …, or with --cause, --consumer, --session or --all."""

    help = (
        "Requeue dead messages, as the console's button does. One by its id, several by their ids, "
        "or a set that is frozen at the start; the clock goes on with a large one."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which messages, and how fast."""
        parser.add_argument("ids", nargs="*", type=naming.row_id, metavar="ID", help="messages")
        parser.add_argument(
            "--seen", type=int, metavar="VERSION", help="of one ID: only if it is still as shown"
        )
        parser.add_argument("--cause", metavar="TEXT", help="every dead letter of this cause")
        parser.add_argument("--consumer", metavar="NAME", help="every one of this consumer")
        parser.add_argument(
            "--session", type=naming.row_id, metavar="ID", help="every one of this session"
        )
        parser.add_argument("--all", action="store_true", help="every dead letter there is")
        parser.add_argument(
            "--up-to",
            type=int,
            metavar="VERSION",
            help="of a set: only what was dead at that version (default: now)",
        )
        parser.add_argument(
            "--one-first", action="store_true", help="of a set: put one back and wait"
        )
        parser.add_argument("--per-second", type=float, metavar="N", help="of a set: no faster")
        parser.add_argument(
            "--stop-at",
            type=int,
            default=round(bulk.FAILURE_LIMIT * 100),
            metavar="PERCENT",
            help="of a set: stop when more than so many fail again (default: %(default)s)",
        )

    def use(self, actor: Actor, options: dict[str, Any]) -> Done:
        """Requeue the messages that are named, or the set."""
        is_set = options["all"] or any(
            options[name] is not None for name in ("cause", "consumer", "session")
        )
        if bool(options["ids"]) == is_set:
            raise CommandError(
                "Name messages by their ids, or a set by --cause, --consumer, --session or --all."
            )
        if is_set:
            return _set(actor, options)
        return self._each(actor, options)

    def _each(self, actor: Actor, options: dict[str, Any]) -> Done:
        ids, note = options["ids"], options["reason"]
        if len(ids) == 1:
            return _one(actor, ids[0], options["seen"], note)
        if options["seen"] is not None:
            raise CommandError("--seen belongs to one ID.")
        done, refusals = 0, 0
        for number in dict.fromkeys(ids):
            try:
                self.stderr.write(shown(_one(actor, number, None, note).text))
                done += 1
            except PermissionRefusedError:
                raise
            except RefusedError as error:
                self.stderr.write(shown(str(error)))
                refusals += 1
        text = f"{done} requeued, {refusals} refused."
        if refusals:
            raise RefusedError(text)
        return Done(verb="requeue", text=text, count=done)


def _one(actor: Actor, number: int, seen: int | None, note: str) -> Done:
    version = naming.message(number).version if seen is None else seen
    return messages.requeue(actor, number, seen=version, note=note)


def _set(actor: Actor, options: dict[str, Any]) -> Done:
    if not 0 <= options["stop_at"] <= 100:  # noqa: PLR2004 - percent
        raise CommandError("--stop-at: from 0 to 100 percent.")
    named = options["consumer"]
    scope = Scope(
        cause=options["cause"],
        consumer=None if named is None else naming.consumer_id(named),
        session=options["session"],
    )
    version = options["up_to"]
    if version is None:
        found = requeues.plan(cause=scope.cause, consumer=scope.consumer, session=scope.session)
        version = found.max_version
    return bulk.start(
        actor,
        scope,
        up_to_version=version,
        is_canary=options["one_first"],
        per_second=options["per_second"],
        failure_limit=options["stop_at"] / 100,
        reason=options["reason"],
    )
