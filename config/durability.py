"""Refuses a database that may lose what it said was committed."""

from __future__ import annotations

from django.conf import settings
from django.db import connection  # noqa: TID251 - a question to the server, not to the inbox

from config.environment import EnvironmentVariableError


def refuse_unsafe_database() -> None:
    """EnvironmentVariableError when the server runs without fsync, unless that is admitted."""
    if settings.ENVIRONMENT.admits_unsafe_database:
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('fsync'), current_setting('full_page_writes')")
        found = cursor.fetchone()
    if found != ("on", "on"):
        raise EnvironmentVariableError(
            "The database runs with fsync or full_page_writes off: after a power cut it may have "
            "lost messages that were acknowledged. Turn both on. (COMBOIO_UNSAFE_DATABASE=1 admits "
            "it, for tests only.)"
        )
