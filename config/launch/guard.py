"""Refuses, before a command starts, a database that may lose what it committed."""

from __future__ import annotations

import contextlib

import django
from django.db import OperationalError  # noqa: TID251 - only to go on without a database

from config.launch.errors import LaunchError
from monitor.domain.errors import ConfigurationError
from monitor.store.safety import require_safe_database


def main() -> None:
    """LaunchError for an unsafe database. One that is away just now is the command's own matter."""
    django.setup()
    try:
        with contextlib.suppress(OperationalError):
            require_safe_database()
    except ConfigurationError as error:
        raise LaunchError(str(error)) from error
