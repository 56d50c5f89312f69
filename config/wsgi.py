"""The web server's entry point."""

from __future__ import annotations

import os
import signal

from django.core.wsgi import get_wsgi_application

from config.launch.process import die_with_parent

# The server's worker processes outlive a killed main process and would keep the port.
die_with_parent(signal.SIGKILL)
os.environ["COMBOIO_ROLE"] = "web"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
