"""Triage: what needs a person, as groups of alerts by cause, each with its state."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from monitor.domain.triage import GROWTH, KINDS, NEEDS_SOMEBODY, GroupKey, GroupState
from monitor.reports import dead_letters
from monitor.reports.page import FIRST_ID, Page, bounded, build, place
from monitor.reports.reading import Cursor, is_storable, reading
from monitor.store import sql

SQL = sql.load(__file__)

LIMIT = 25  # groups a page; the dead letters of each are counted
MOST = 10_000  # live alerts that are looked at, the latest first
MOST_RESOLVED = 2_000
BADGE_CAP = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Alerts of one kind, consumer and cause.

    id: its newest alert, which names it in addresses. members: its alerts. raised: how often.
    began_at: since when it is there without a break. again: it was there before, too.
    acknowledged_by: of one of its alerts. version: what its verbs name; 0: nobody said anything.
    dead: its dead messages, counted, for a group of dead letters that has any.
    """

    id: int
    kind: str
    consumer_id: int
    consumer: str
    cause: str
    state: GroupState
    title: str
    target: int
    members: int
    raised: int
    first_at: datetime
    last_at: datetime
    resolved_at: datetime | None
    began_at: datetime
    again: bool
    acknowledged_by: str
    triage_id: int | None
    owner: str
    note: str
    noted_by: str
    noted_at: datetime | None
    snoozed_until: datetime | None
    snoozed_by: str
    snoozed_at: datetime | None
    snoozed_raised: int
    version: int
    dead: dead_letters.Group | None = None

    @property
    def key(self) -> GroupKey:
        """Its name whatever its alerts are."""
        return GroupKey(kind=self.kind, consumer=self.consumer_id, cause=self.cause)


def page(
    cursor: str | None = None,
    *,
    limit: int = LIMIT,
    state: GroupState | None = None,
    kind: str | None = None,
    consumer: int | None = None,
    owner: str | None = None,
) -> Page[Group]:
    """Groups: those that need somebody first, then what is looked after, then what sleeps.

    state None: all that are not resolved. The latest come first within each. Resolved groups are
    those among the latest 2,000 resolved alerts. Raises ReportTimeoutError and CursorError.
    """
    start, limit = place(cursor, float), bounded(limit)
    if not is_storable((kind or "") + (owner or "")):
        return Page(rows=())
    is_live = state != GroupState.RESOLVED
    values: dict[str, Any] = {
        "live": is_live,
        "most": MOST if is_live else MOST_RESOLVED,
        "growth": GROWTH,
        "kinds": [str(each) for each in KINDS if kind in (None, each)],
        "consumer": consumer,
        "cause": None,
        "state": state if is_live else None,
        "owner": owner,
        "back": start.back,
        "sort": start.sort,
        "id": start.id,
        "count": limit + 1,
    }
    with reading() as open_cursor:
        open_cursor.execute(SQL["page"], values)
        found = [(row[-1], _group(row)) for row in open_cursor.fetchall()]
        shown = build(found, start, limit, key=lambda pair: (pair[0], pair[1].id))
        groups = counted(open_cursor, [group for _, group in shown.rows])
    return Page(rows=tuple(groups), next=shown.next, previous=shown.previous)


def detail(alert_id: int) -> Group | None:
    """The group that an alert belongs to, or None when there is no such alert or kind of group."""
    if abs(alert_id) > FIRST_ID:
        return None
    with reading() as cursor:
        cursor.execute(SQL["key"], {"id": alert_id, "kinds": [str(each) for each in KINDS]})
        row = cursor.fetchone()
        if row is None:
            return None
        group = _one(cursor, GroupKey(kind=row[0], consumer=row[1], cause=row[2]))
        return None if group is None else counted(cursor, [group])[0]


def of_cause(cause: str) -> tuple[Group, ...]:
    """The live groups of dead letters of a cause: one for each consumer that has any."""
    if not is_storable(cause):
        return ()
    with reading() as cursor:
        cursor.execute(SQL["group"], _named("dead letter", None, cause) | {"live": True})
        return tuple(_group(row) for row in cursor.fetchall())


def calling() -> int:
    """How many groups need somebody, for the badge; of the latest 1,000 live alerts."""
    values = _named(None, None, None) | {"live": True, "most": BADGE_CAP}
    with reading() as cursor:
        cursor.execute(SQL["calling"], values | {"states": [str(each) for each in NEEDS_SOMEBODY]})
        return int(cursor.fetchone()[0])


def sleeping(cursor: Cursor) -> dict[tuple[str, int, str], tuple[datetime, str]]:
    """What sleeps, until when and by whom: by kind, consumer and, of dead letters, cause.

    The key is there only when all groups that it speaks of sleep.
    """
    cursor.execute(SQL["sleeping"], _named(None, None, None) | {"live": True})
    return {(row[0], row[1], row[2]): (row[3], row[4]) for row in cursor.fetchall()}


def counted(cursor: Cursor, groups: list[Group]) -> list[Group]:
    """The groups, those of dead letters with their messages counted."""
    causes: dict[int, list[str]] = {}
    for group in groups:
        if group.kind == "dead letter":
            causes.setdefault(group.consumer_id, []).append(group.cause)
    found = {
        (consumer, each.cause): each
        for consumer, named in causes.items()
        for each in dead_letters.by_cause(cursor, named, consumer)
    }
    return [
        replace(group, dead=found.get((group.consumer_id, group.cause)))
        if group.kind == "dead letter"
        else group
        for group in groups
    ]


def _one(cursor: Cursor, key: GroupKey) -> Group | None:
    for is_live in (True, False):
        cursor.execute(SQL["group"], _named(**asdict(key)) | {"live": is_live})
        row = cursor.fetchone()
        if row is not None:
            return _group(row)
    return None


def _named(kind: str | None, consumer: int | None, cause: str | None) -> dict[str, Any]:
    kinds = [kind] if kind else [str(each) for each in KINDS]
    return {
        "most": MOST,
        "growth": GROWTH,
        "kinds": kinds,
        "consumer": consumer,
        "cause": cause,
    }


def _group(values: tuple[Any, ...]) -> Group:
    return Group(
        kind=values[0],
        consumer_id=values[1],
        cause=values[2],
        id=values[3],
        title=values[4],
        target=values[5],
        members=values[6],
        raised=values[7],
        first_at=values[8],
        last_at=values[9],
        resolved_at=values[10],
        began_at=values[11],
        again=values[12],
        acknowledged_by=values[13],
        triage_id=values[14],
        owner=values[15],
        note=values[16],
        noted_by=values[17],
        noted_at=values[18],
        snoozed_until=values[19],
        snoozed_by=values[20],
        snoozed_at=values[21],
        snoozed_raised=values[22],
        version=values[23],
        state=GroupState(values[24]),
        consumer=values[25],
    )
