"""The web server's entry point."""

from __future__ import annotations

import contextlib
import os
import signal

from django.core.wsgi import get_wsgi_application
from django.db import OperationalError  # noqa: TID251 - only to go on without a database

from config.launch.process import die_with_parent
from monitor.store.safety import require_safe_database

# The server's worker processes outlive a killed main process and would keep the port.
die_with_parent(signal.SIGKILL)
os.environ["COMBOIO_ROLE"] = "web"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()

# A database that is away just now is no reason to stay down: /readyz says so until it is back.
with contextlib.suppress(OperationalError):
    require_safe_database()
