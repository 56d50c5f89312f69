"""What people say of a group of alerts: who looks after it, a note, and until when it sleeps.

Each change names the version that was seen, 0 where nothing was said yet.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from monitor.domain.triage import GROWTH, GroupKey
from monitor.store.sql import Cursor, load

SQL = load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Who said something of a group last, and when."""

    changed_by: str
    changed_at: datetime
    version: int


def group_of(cursor: Cursor, alert_id: int) -> tuple[GroupKey, str] | None:
    """The group of an alert and the alert's title, or None when there is no such alert."""
    cursor.execute(SQL["group_of"], {"alert": alert_id})
    row = cursor.fetchone()
    if row is None:
        return None
    return GroupKey(kind=row[0], consumer=row[1], cause=row[2]), row[3]


def said(cursor: Cursor, group: GroupKey) -> Said | None:
    """The last words on it; None: nobody has said anything."""
    cursor.execute(SQL["said"], asdict(group))
    row = cursor.fetchone()
    if row is None:
        return None
    return Said(changed_by=row[0], changed_at=row[1], version=row[2])


def own(cursor: Cursor, group: GroupKey, *, seen: int, actor: str, owner: str) -> int | None:
    """Give the group to somebody; "" to nobody. Its id, or None when it is not as seen."""
    return _change(cursor, "own", group, seen=seen, actor=actor, owner=owner)


def write_note(cursor: Cursor, group: GroupKey, *, seen: int, actor: str, note: str) -> int | None:
    """Replace the note. Its id, or None when the group is not as seen."""
    return _change(cursor, "write_note", group, seen=seen, actor=actor, note=note)


def snooze(
    cursor: Cursor, group: GroupKey, *, seen: int, actor: str, until: datetime
) -> int | None:
    """Let it sleep until a time. Its id, or None when it is not as seen or has no live alert."""
    return _change(cursor, "snooze", group, seen=seen, actor=actor, until=until, growth=GROWTH)


def wake(cursor: Cursor, group: GroupKey, *, seen: int, actor: str) -> int | None:
    """End its snooze. Its id, or None when it is not as seen or does not sleep."""
    return _change(cursor, "wake", group, seen=seen, actor=actor)


def _change(
    cursor: Cursor, name: str, group: GroupKey, *, seen: int, actor: str, **values: Any
) -> int | None:
    cursor.execute(SQL[name], {**asdict(group), "seen": seen, "actor": actor, **values})
    row = cursor.fetchone()
    return None if row is None else int(row[0])
