"""Decides that a dead message shall not run."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from monitor.domain.actor import Actor
from monitor.management import naming
from monitor.management.acting import VerbCommand
from monitor.operations import Done, messages


class Command(VerbCommand):
    """./manage.py discard ID."""

    help = (
        "Discard a dead message: it shall not run, and its session goes on without it. It can be "
        "restored."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which message."""
        parser.add_argument("id", type=naming.row_id, metavar="ID", help="the message")
        parser.add_argument(
            "--seen", type=int, metavar="VERSION", help="only if it is still as shown"
        )

    def use(self, actor: Actor, options: dict[str, Any]) -> Done:
        """Discard the message, with --reason as its note."""
        number, seen = options["id"], options["seen"]
        if seen is None:
            seen = naming.message(number).version
        return messages.discard(actor, number, seen=seen, note=options["reason"])
