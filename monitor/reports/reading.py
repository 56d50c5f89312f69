"""How every report reads: through Django's connection, read-only, with a time limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import OperationalError, connection, transaction
from django.db.backends.utils import CursorWrapper
from django.utils.translation import gettext as _

from monitor.reports.errors import ReportTimeoutError

Cursor = CursorWrapper
PAGE_SECONDS = 2.0


@contextmanager
def reading(seconds: float = PAGE_SECONDS) -> Iterator[Cursor]:
    """A cursor in a read-only transaction whose statements may take that long each.

    Inside an outer transaction the limit ends with the block. Raises ReportTimeoutError in words.
    """
    milliseconds = str(max(1, int(seconds * 1000)))
    is_nested = connection.in_atomic_block
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            # Read-only ends with the (sub)transaction; the limit would outlive a savepoint.
            cursor.execute(
                "SELECT current_setting('statement_timeout'),"
                " set_config('statement_timeout', %s, true),"
                " set_config('transaction_read_only', 'on', true)",
                [milliseconds],
            )
            before = cursor.fetchone()[0]
            yield cursor
            if is_nested:
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [before])
    except OperationalError as error:
        if isinstance(error.__cause__, psycopg.errors.QueryCanceled):
            text = _("Stopped after %(seconds)s s: too much to look through. Narrow the filter.")
            raise ReportTimeoutError(text % {"seconds": f"{seconds:g}"}) from error
        raise


def is_storable(text: str) -> bool:
    """Whether a text column could hold this: PostgreSQL takes neither NUL nor lone surrogates."""
    return "\0" not in text and not any("\ud800" <= each <= "\udfff" for each in text)
