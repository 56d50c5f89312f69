"""Runs a dead message again with a corrected payload, at its own place."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from monitor.domain.actor import Actor
from monitor.management import naming
from monitor.management.acting import VerbCommand
from monitor.operations import Done, replaying


class Command(VerbCommand):
    """./manage.py replay ID FILE."""

    help = (
        "Replay a dead message with the payload in a file (- is the standard input): it keeps its "
        "identity and its place. --reason is needed."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which message, and with what."""
        parser.add_argument("id", type=naming.row_id, metavar="ID", help="the message")
        parser.add_argument("file", metavar="FILE", help="the corrected payload; - reads it")
        parser.add_argument(
            "--seen", type=int, metavar="VERSION", help="only if it is still as shown"
        )
        parser.add_argument(
            "--raw", action="store_true", help="do not check that it is JSON that the handler takes"
        )

    def use(self, actor: Actor, options: dict[str, Any]) -> Done:
        """Replay the message."""
        number, seen = options["id"], options["seen"]
        if seen is None:
            seen = naming.message(number).version
        return replaying.replay(
            actor,
            number,
            _payload(options["file"]),
            seen=seen,
            reason=options["reason"],
            is_raw=options["raw"],
        )


def _payload(name: str) -> bytes:
    most = replaying.LARGEST_BYTES + 1
    if name == "-":
        return sys.stdin.buffer.read(most)
    try:
        with Path(name).open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.") from error
