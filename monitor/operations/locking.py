"""How a verb takes hold of a session: found, its lane locked, read again; and its name in words."""

from __future__ import annotations

from typing import Any

import psycopg
from django.utils.translation import gettext as _

from monitor.domain import keys
from monitor.domain.errors import RefusedError
from monitor.store import holds, lanes
from monitor.store.holds import Lease, Session


def locked(cursor: psycopg.Cursor[Any], session_id: int) -> Session:
    """The session, with its lane locked. Raises RefusedError when there is none."""
    found = holds.session(cursor, session_id)
    if found is None:
        raise RefusedError(_("There is no session %(id)d.") % {"id": session_id})
    lanes.lock(cursor, [keys.lane(found.consumer, session_id)])
    # Read again under the lock: the gate may have changed while this waited.
    return holds.session(cursor, session_id) or found


def named(found: Session | Lease) -> str:
    """A session in words."""
    return _("Session “%(key)s” of %(consumer)s") % {
        "key": found.key,
        "consumer": found.consumer_name,
    }
