"""`manage.py clock`: does what is done on a clock, until it is told to stop."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from monitor.maintenance import clock


class Command(BaseCommand):
    """The clock process."""

    help = __doc__

    def handle(self, **_options: Any) -> None:
        """Run until SIGTERM or SIGINT."""
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        clock.run_all(stop)
