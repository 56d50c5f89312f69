"""What a group of alerts is made of: its members, and why equal failures stand together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from monitor.domain import rendering
from monitor.domain.rendering import Part
from monitor.domain.triage import GroupKey
from monitor.reports.page import LIMIT, Page, bounded, build, place
from monitor.reports.reading import reading
from monitor.store import sql

SQL = sql.load(__file__)

MOST_COMPARED = 500
_BUCKETS = 40
_MOST_TYPES = 5
_COLUMNS = (
    *("id", "consumer_id", "title", "alert_target", "count", "first_at", "last_at", "waiting"),
    *("verb", "target_kind", "target_id", "seen"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An alert of a group with the verb that mends what it speaks of.

    verb: keep_first (target: the mismatch), ask (the effect), requeue (the dead message that holds
    the session), resume (the session), or open (its page). seen: the version that the verb names.
    alert_target: the row the alert speaks of. waiting: messages behind it.
    """

    id: int
    kind: str
    consumer_id: int
    title: str
    alert_target: int
    count: int
    first_at: datetime
    last_at: datetime
    waiting: int
    verb: str
    target_kind: str
    target_id: int
    seen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """What was compared of dead letters, the newest ones looked at.

    same: how many of them have the class, the cleaned text and the own frames of the newest.
    per_slot: how many died in each of equal stretches of time from first_at to last_at.
    """

    looked: int
    same: int
    error_class: str
    line: tuple[Part, ...]
    more: str
    own: tuple[str, ...]
    types: tuple[tuple[str, int], ...]
    sessions: int
    per_slot: tuple[int, ...]
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dead:
    at: datetime
    session: int
    error_class: str
    error: str
    type: str
    own: tuple[str, ...]

    @property
    def compared(self) -> tuple[str, str, tuple[str, ...]]:
        return self.error_class, rendering.shape(self.error), self.own


def page(
    key: GroupKey, cursor: str | None = None, *, is_live: bool = True, limit: int = LIMIT
) -> Page[Member]:
    """The alerts of a group, newest first; resolved ones when it is not live."""
    start, limit = place(cursor, int), bounded(limit)
    values = {"back": start.back, "id": start.id, "count": limit + 1, "live": is_live}
    with reading() as open_cursor:
        open_cursor.execute(SQL["members"], asdict(key) | values)
        rows = [Member(**_named(row), kind=key.kind) for row in open_cursor.fetchall()]
    return build(rows, start, limit, key=lambda row: (row.id, row.id))


def why(key: GroupKey) -> Why | None:
    """Why dead letters stand together; None when none of them is dead any more."""
    with reading() as cursor:
        cursor.execute(SQL["compared"], asdict(key) | {"count": MOST_COMPARED})
        found = [_dead(row) for row in cursor.fetchall()]
    if not found:
        return None
    newest = found[0]
    first_line, _, more = newest.error.partition("\n")
    return Why(
        looked=len(found),
        same=sum(each.compared == newest.compared for each in found),
        error_class=newest.error_class,
        line=rendering.parts(first_line),
        more=more,
        own=newest.own,
        types=tuple(Counter(each.type for each in found).most_common(_MOST_TYPES)),
        sessions=len({each.session for each in found}),
        per_slot=_per_slot([each.at for each in found]),
        first_at=min(each.at for each in found),
        last_at=max(each.at for each in found),
    )


def _named(values: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(_COLUMNS, values, strict=True))


def _dead(values: Sequence[Any]) -> _Dead:
    return _Dead(
        at=values[0],
        session=values[1],
        error_class=values[2],
        error=values[3],
        type=values[4],
        own=tuple(json.loads(values[5] or "[]")),
    )


def _per_slot(times: list[datetime]) -> tuple[int, ...]:
    first, last = min(times), max(times)
    span = (last - first).total_seconds()
    slots = [0] * _BUCKETS
    for at in times:
        share = (at - first).total_seconds() / span if span else 1.0
        slots[min(_BUCKETS - 1, int(share * _BUCKETS))] += 1
    return tuple(slots)
