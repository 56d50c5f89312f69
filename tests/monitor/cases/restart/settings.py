"""The product's own settings, with the consumers of the case installed."""

from __future__ import annotations

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.monitor.cases.restart"]
