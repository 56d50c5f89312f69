"""Refuses, before a command starts, a database that may lose what it committed."""

from __future__ import annotations

import contextlib

import django
from django.db import OperationalError  # noqa: TID251 - only to go on without a database

from config.durability import refuse_unsafe_database
from config.environment import EnvironmentVariableError
from config.launch.errors import LaunchError


def main() -> None:
    """LaunchError for an unsafe database. One that is away just now is the command's own matter."""
    django.setup()
    try:
        with contextlib.suppress(OperationalError):
            refuse_unsafe_database()
    except EnvironmentVariableError as error:
        raise LaunchError(str(error)) from error
