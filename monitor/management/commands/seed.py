"""Fills the inbox with a made-up history, to look at the console as it is after days of traffic."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from monitor.domain.errors import RefusedError
from monitor.seeding import history
from monitor.seeding.shape import Shape


class Command(BaseCommand):
    """./manage.py seed --messages N."""

    help = "Fill an empty inbox with a made-up history: messages in every state, and all beside."

    def add_arguments(self, parser: CommandParser) -> None:
        """How large, and whether it may be put beside what is there."""
        parser.add_argument("--messages", type=int, required=True, metavar="N")
        parser.add_argument("--dead", type=int, metavar="N", help="of these (default: 1 of 25)")
        parser.add_argument("--sessions", type=int, metavar="N", help="default: 1 of 100 messages")
        parser.add_argument("--seed", type=int, default=1, help="of the chance in it")
        parser.add_argument("--days", type=int, default=7, help="how far it goes back (default: 7)")
        parser.add_argument("--add", action="store_true", help="beside messages that are there")
        parser.add_argument(
            "--yes", action="store_true", help="also where others may rely on the database"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Fill it and say with what; CommandError when that is refused."""
        if not (options["yes"] or _is_our_own()):
            raise CommandError(
                "This is not the database of ./manage.py up, so others may rely on it. "
                "A made-up history is not told from a real one: say --yes if you mean it."
            )
        names = ("dead", "sessions", "seed", "days")
        try:
            shape = Shape.of(options["messages"], **{name: options[name] for name in names})
            made = history.fill(shape, add=options["add"], say=self.stdout.write)
        except (ValueError, RefusedError) as error:
            raise CommandError(str(error)) from error
        for name, count in asdict(made).items():
            self.stdout.write(f"{count:>12,} {name.replace('_', ' ')}")
        self.stdout.write(
            "No code declares the seed.… consumers, so a worker leaves their messages alone. The "
            "clock does its chores on them: delayed messages become ready, and what is older than "
            "the retention goes."
        )


def _is_our_own() -> bool:
    """Whether this is the database of `up`, or of a developer's process."""
    host = str(connection.settings_dict["HOST"])
    return bool(settings.DEBUG or host.startswith("/"))
