"""Keeps a session or a consumer from running."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser

from monitor.domain.actor import Actor
from monitor.management import naming
from monitor.management.acting import VerbCommand
from monitor.operations import Done, consumers, sessions


class Command(VerbCommand):
    """./manage.py hold consumer NAME, ./manage.py hold session ID."""

    help = "Hold a consumer or a session: nothing more of it runs until it is resumed."

    def add_own_arguments(self, parser: CommandParser) -> None:
        """What to hold, and for how long."""
        parser.add_argument("what", choices=("consumer", "session"))
        parser.add_argument("which", metavar="WHICH", help="a consumer's name, a session's id")
        parser.add_argument(
            "--minutes", type=int, metavar="N", help="of a consumer: the hold ends by itself"
        )

    def use(self, actor: Actor, options: dict[str, Any]) -> Done:
        """Hold it."""
        which, reason, minutes = options["which"], options["reason"], options["minutes"]
        if options["what"] == "session":
            if minutes is not None:
                raise CommandError("--minutes belongs to a consumer.")
            return sessions.hold(actor, naming.session_id(which), reason=reason)
        until = None if minutes is None else datetime.now(UTC) + timedelta(minutes=minutes)
        return consumers.hold(actor, naming.consumer_id(which), reason=reason, until=until)
