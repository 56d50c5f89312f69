"""Receives from one broker source in a process of its own, until SIGTERM or SIGINT."""

from __future__ import annotations

import signal
from threading import Event
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from monitor import conf
from monitor.domain.errors import ConfigurationError
from monitor.sources import receiver


class Command(BaseCommand):
    """./manage.py receive NAME."""

    help = "Receive messages of one broker source. Run as many as you like: one is active."

    def add_arguments(self, parser: CommandParser) -> None:
        """The source to receive from."""
        parser.add_argument("name", metavar="NAME", help="a broker source of the configuration")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until told to stop; what is not committed then stays with the broker."""
        try:
            source = receiver.named(conf.get(), options["name"])
        except ConfigurationError as error:
            raise CommandError(str(error)) from error
        stop = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        self.stdout.write(f"Receiving from {source.name}; Ctrl-C stops.")
        receiver.run(source, stop)
