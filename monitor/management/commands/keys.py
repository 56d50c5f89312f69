"""Lists what came or was done since a moment: after a restore, what the backup does not know."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from monitor.domain import times
from monitor.reports import known_keys


class Command(BaseCommand):
    """./manage.py keys --since TIME."""

    help = "List messages that came, were done or called the outside since a time, as JSON lines."

    def add_arguments(self, parser: CommandParser) -> None:
        """The moment of the backup."""
        parser.add_argument(
            "--since",
            required=True,
            metavar="TIME",
            help="the moment of the backup with its zone, such as 2026-01-31T09:30:00Z",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write a line for each, in the order of arrival."""
        moment = times.read_time(options["since"])
        if moment is None:
            raise CommandError(
                f"--since {options['since']}: a time with its zone is needed, "
                "such as 2026-01-31T09:30:00Z."
            )
        for each in known_keys.since(moment):
            self.stdout.write(orjson.dumps(asdict(each)).decode())
