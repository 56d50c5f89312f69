"""The frame of every verb: permission first, one transaction, locks that do not wait for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
from django.db import OperationalError, connection, transaction
from django.utils.translation import gettext as _
from psycopg.errors import DeadlockDetected, LockNotAvailable, QueryCanceled

from monitor.domain.actor import Actor, Permission
from monitor.domain.errors import RefusedError, RepeatedClickError
from monitor.operations.sentences import when
from monitor.store import audit, clicks, lanes, rollup

# A lane is held by a running batch: mostly for some 50 ms, behind a slow handler for seconds.
LOCK_SECONDS = 5.0

_BUSY = (LockNotAvailable, QueryCanceled, DeadlockDetected)


class BusyError(RefusedError):
    """A lock was not free in time; nothing was changed, the same click may succeed later."""


@contextmanager
def act(
    actor: Actor, permission: Permission, *, lock_seconds: float | None = None
) -> Iterator[psycopg.Cursor[Any]]:
    """A transaction for one verb; it commits when the block ends and rolls back when it raises.

    Raises PermissionRefusedError before anything is read, RepeatedClickError when the actor's click
    was carried out already, and BusyError when rows stay locked.
    """
    actor.require(permission)
    try:
        with transaction.atomic(durable=True):
            connection.ensure_connection()
            cursor = psycopg.Cursor(connection.connection)
            lanes.wait_at_most(cursor, lock_seconds or LOCK_SECONDS)
            if actor.click is not None and not clicks.take(cursor, actor.click, actor.name):
                raise _repeated(cursor, actor.click)
            yield cursor
    except (OperationalError, psycopg.OperationalError) as error:
        if isinstance(error, _BUSY) or isinstance(error.__cause__, _BUSY):
            raise BusyError(
                _("The session is busy right now: its messages are being processed. Try again.")
            ) from error
        raise


def _repeated(cursor: psycopg.Cursor[Any], click: UUID) -> RepeatedClickError:
    found = clicks.find(cursor, click)
    text = _("This click was carried out already, at %(at)s; nothing was done twice.")
    return RepeatedClickError(text % {"at": "?" if found is None else when(found[1])})


def record(
    cursor: psycopg.Cursor[Any],
    actor: Actor,
    verb: str,
    target: tuple[str, int],
    *,
    reason: str = "",
    detail: dict[str, Any] | None = None,
) -> None:
    """The audit row and the count of one act on one object (kind, id), in its transaction."""
    audit.write(cursor, actor.name, verb, *target, reason=reason, detail=detail)
    rollup.add(cursor, [(0, "operator_actions", verb, 1)])


def record_many(
    cursor: psycopg.Cursor[Any],
    actor: Actor,
    verb: str,
    message_ids: list[int],
    *,
    reason: str = "",
) -> None:
    """The same for each message of a bulk verb."""
    audit.write_many(cursor, actor.name, verb, "message", message_ids, reason=reason)
    rollup.add(cursor, [(0, "operator_actions", verb, len(message_ids))])
