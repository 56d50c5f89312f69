"""A database backend for Django: PostgreSQL, where one failed message costs no other its plans."""

from __future__ import annotations

from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg.pq import ExecStatus


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own, but a rollback to a savepoint forgets no prepared statement.

    psycopg drops all of them after every command that answers ROLLBACK, because what they name may
    have been created in what is rolled back; PostgreSQL itself keeps them and looks names up again.
    Every message that fails rolls back to its savepoint, so each failure made the next batch parse
    and plan all its statements anew.
    """

    def _savepoint_rollback(self, sid: str) -> None:
        raw: Any = self.connection
        statement = self.ops.savepoint_rollback_sql(sid).encode()
        with self.wrap_database_errors, raw.lock:
            result = raw.pgconn.exec_(statement)
            if result.status != ExecStatus.COMMAND_OK:
                raise psycopg.errors.error_from_result(result)
