"""The product's own settings, with short leases and timeouts and the handlers of the run."""

from __future__ import annotations

from config.settings import *  # noqa: F403
from config.settings import DATABASES, ENVIRONMENT, INSTALLED_APPS

_OPTIONS = DATABASES["default"]["OPTIONS"]

INSTALLED_APPS = [*INSTALLED_APPS, "proof"]

if ENVIRONMENT.role == "worker":
    # A later -c wins. No statement outlives a lease; a frozen process keeps no lock for longer.
    _OPTIONS["options"] += " -c statement_timeout=1900ms -c idle_in_transaction_session_timeout=2s"
