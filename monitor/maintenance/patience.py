"""No chore waits for ever for an answer of the database that never comes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from monitor.store import connections

SECONDS = 60.0  # longer than any statement may take


@contextmanager
def limited() -> Iterator[None]:
    """Cut Django's connection when the block, one transaction, takes longer: it sees an error."""
    connection.ensure_connection()
    with connections.deadline(connection.connection, SECONDS):
        yield
