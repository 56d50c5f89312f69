"""Lets a held session or consumer run on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from monitor.domain.actor import Actor
from monitor.management import naming
from monitor.management.acting import VerbCommand
from monitor.operations import Done, consumers, sessions


class Command(VerbCommand):
    """./manage.py resume consumer NAME, ./manage.py resume session ID."""

    help = "Resume a held consumer or session."

    def add_own_arguments(self, parser: CommandParser) -> None:
        """What to resume."""
        parser.add_argument("what", choices=("consumer", "session"))
        parser.add_argument("which", metavar="WHICH", help="a consumer's name, a session's id")
        parser.add_argument(
            "--seen", type=int, metavar="VERSION", help="only if it is still held as shown"
        )

    def use(self, actor: Actor, options: dict[str, Any]) -> Done:
        """Resume it."""
        which, seen = options["which"], options["seen"]
        if options["what"] == "session":
            number = naming.session_id(which)
            version = naming.session_version(number) if seen is None else seen
            return sessions.resume(actor, number, seen=version)
        number = naming.consumer_id(which)
        version = naming.consumer_version(number) if seen is None else seen
        return consumers.resume(actor, number, seen=version)
