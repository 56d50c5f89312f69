"""Migrates a database: one process at a time, and again when a table was locked for too long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import OperationalError  # noqa: TID251 - to know a lock that was not free
from psycopg.errors import LockNotAvailable

from config.launch.errors import LaunchError
from monitor.store import connections

ATTEMPTS = 5
_LOCK = "hashtextextended('comboio migrations', 0)"
_LOOK_SECONDS = 0.2
_PAUSE_SECONDS = 1.0  # for those who queued behind our lock, which lock_timeout gave up


def in_turn(migrate: Callable[[], object]) -> None:
    """Run it when no other process does, at most 5 times; wants no open transaction.

    Each migration is a transaction, so what a locked table (or a kill) left undone is all that a
    second run does. Raises LaunchError when a table stays locked, else what migrate raises;
    psycopg.OperationalError when the database is away.
    """
    with _turn():
        for attempt in range(1, ATTEMPTS + 1):
            try:
                migrate()
                return
            except OperationalError as error:
                if not isinstance(error.__cause__, LockNotAvailable):
                    raise
                if attempt == ATTEMPTS:
                    raise LaunchError(
                        f"A table was locked at each of {ATTEMPTS} attempts, so the database is "
                        f"not wholly migrated ({str(error).strip()}). Run the command again."
                    ) from error
            _say(f"A table is locked; attempt {attempt + 1} of {ATTEMPTS} follows.")
            time.sleep(_PAUSE_SECONDS)


@contextmanager
def _turn() -> Iterator[None]:
    """Looks for its turn and never waits in the server: an index built beside would wait for us."""
    with connections.connect(autocommit=True, application_name="comboio migrations") as own:
        is_told = False
        while not _is_ours(own):
            if not is_told:
                _say("Another process migrates this database; waiting for it.")
                is_told = True
            time.sleep(_LOOK_SECONDS)
        yield


def _is_ours(own: connections.Connection) -> bool:
    row = own.execute(f"SELECT pg_try_advisory_lock({_LOCK})").fetchone()
    return bool(row and row[0])


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201
