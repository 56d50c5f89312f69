"""The last version of each session's state that a natural consumer has stored."""

from __future__ import annotations

from monitor.store.sql import Cursor, load

SQL = load(__file__)


def advance(cursor: Cursor, session: int, version: int) -> bool:
    """Store this version of the session's state. False: a newer one is stored already.

    Wants the transaction of the effects.
    """
    cursor.execute(SQL["advance"], {"session": session, "version": version})
    return cursor.rowcount == 1
