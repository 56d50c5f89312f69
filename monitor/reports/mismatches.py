"""Mismatches: same key, other payload; what differs and who sent it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from monitor.domain import keys
from monitor.domain.states import State
from monitor.reports import json_diff, payloads, redacting, states
from monitor.reports.json_diff import Diff, DiffRow, SameRow
from monitor.reports.page import FIRST_ID, LIMIT, Page, bounded, build, place
from monitor.reports.payloads import PayloadView
from monitor.reports.reading import Cursor, reading
from monitor.reports.redacting import Redactor
from monitor.store import sql

__all__ = [
    "Comparison",
    "Diff",
    "DiffRow",
    "HeaderPair",
    "MismatchDetail",
    "MismatchRow",
    "SameRow",
    "Side",
    "comparison",
    "detail",
    "page",
]

SQL = sql.load(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MismatchRow:
    """A mismatch. verdict None: open. version: what the verdicts name."""

    id: int
    message_id: int
    consumer_id: int
    consumer: str
    key: str
    origin: str
    type: str
    session_id: int | None
    session: str
    count: int
    first_at: datetime
    last_at: datetime
    verdict: str | None
    verdict_by: str
    verdict_at: datetime | None
    verdict_reason: str
    accepted_id: int | None
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderPair:
    """A header of both deliveries; None where one has it not. differs: also where it is hidden."""

    name: str
    first: str | None
    second: str | None
    differs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What a producer said of one of the two payloads besides it.

    at: when it came first; None: that was purged. count: how often it came; None: not known any
    more. fingerprint: "" when the record that judged is gone.
    """

    at: datetime | None
    type: str
    content_type: str
    correlation_id: str
    traceparent: str
    fingerprint: str
    count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MismatchDetail:
    """A mismatch with what both producers said, but without the payloads."""

    row: MismatchRow
    first_state: State | None
    gap_seconds: float | None
    first: Side
    second: Side
    headers: tuple[HeaderPair, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Both payloads and their difference; show it to revealers only. first None: it was purged."""

    diff: Diff | None
    first: PayloadView | None
    second: PayloadView

    @property
    def is_redacted(self) -> bool:
        """Whether something of either payload is hidden."""
        return bool(self.second.redacted or (self.first and self.first.redacted))


def page(
    cursor: str | None = None,
    *,
    limit: int = LIMIT,
    decided: bool = False,
    consumer: int | None = None,
) -> Page[MismatchRow]:
    """Open mismatches, the latest first; or the decided ones, the newest first."""
    start, limit = place(cursor, int if decided else datetime), bounded(limit)
    values: dict[str, Any] = {
        "back": start.back,
        "sort": start.sort,
        "id": start.id,
        "count": limit + 1,
        "consumer": consumer,
    }
    with reading() as open_cursor:
        open_cursor.execute(SQL["decided" if decided else "open"], values)
        ids = [row[0] for row in open_cursor.fetchall()]
        open_cursor.execute(SQL["rows"], {"ids": ids})
        found = {row[0]: _row(row) for row in open_cursor.fetchall()}
    rows = [found[each] for each in ids if each in found]
    return build(rows, start, limit, key=lambda row: (row.id if decided else row.last_at, row.id))


def detail(mismatch_id: int) -> MismatchDetail | None:
    """One mismatch without its payloads, or None."""
    if abs(mismatch_id) > FIRST_ID:
        return None
    with reading() as cursor:
        cursor.execute(SQL["rows"], {"ids": [mismatch_id]})
        values = cursor.fetchone()
        if values is None:
            return None
        row = _row(values)
        cursor.execute(SQL["sides"], {"id": mismatch_id})
        side = cursor.fetchone()
        standing = states.of(cursor, [row.message_id])[row.message_id]
        judged = _first_judged(cursor, row)
        known = redacting.of_message(cursor, row.message_id, row.consumer)
    first = _side(side[:5], *judged)
    return MismatchDetail(
        row=row,
        first_state=standing.state,
        gap_seconds=None if first.at is None else (row.first_at - first.at).total_seconds(),
        first=first,
        second=_side(side[6:11], side[12], side[13]),
        # The second delivery may have come from another source: the rules of all of them count.
        headers=_pairs(
            side[5], side[11], replace(known, policy=redacting.policy("", row.consumer))
        ),
    )


def comparison(mismatch_id: int, *, is_whole: bool = False) -> Comparison | None:
    """Both payloads side by side, or None.

    is_whole: nothing of them is redacted; only for a look that the audit knows.
    """
    if abs(mismatch_id) > FIRST_ID:
        return None
    with reading() as cursor:
        cursor.execute(SQL["payloads"], {"id": mismatch_id})
        row = cursor.fetchone()
    if row is None:
        return None
    policy = redacting.OPEN if is_whole else redacting.policy("", row[4])
    second = bytes(row[3])
    view = payloads.view(second, row[2], len(second), policy)
    if row[1] is None:
        return Comparison(diff=None, first=None, second=view)
    first = bytes(row[1])
    return Comparison(
        diff=json_diff.compare(first, second, policy),
        first=payloads.view(first, row[0], len(first), policy),
        second=view,
    )


def _row(values: tuple[Any, ...]) -> MismatchRow:
    return MismatchRow(
        id=values[0],
        message_id=values[1],
        consumer_id=values[2],
        consumer=values[3],
        key=values[4],
        origin=values[5],
        type=values[6],
        session_id=values[7],
        session=values[8],
        count=values[9],
        first_at=values[10],
        last_at=values[11],
        verdict=values[12],
        verdict_by=values[13],
        verdict_at=values[14],
        verdict_reason=values[15],
        accepted_id=values[16],
        version=values[17],
    )


def _first_judged(cursor: Cursor, row: MismatchRow) -> tuple[str, int | None]:
    """(fingerprint, how often it came) of the first; ("", None) when its record is gone."""
    values: dict[str, Any] = {
        "consumer": row.consumer_id,
        "key": keys.dedup_key(row.origin, row.key),
    }
    cursor.execute(SQL["first_judged"], values)
    found: tuple[str, int] | None = cursor.fetchone()
    return found or ("", None)


def _side(said: tuple[Any, ...], fingerprint: str, count: int | None) -> Side:
    names = ("at", "type", "content_type", "correlation_id", "traceparent")
    return Side(**dict(zip(names, said, strict=True)), fingerprint=fingerprint, count=count)


def _pairs(first: str | None, second: str, redactor: Redactor) -> tuple[HeaderPair, ...]:
    left: dict[str, Any] = json.loads(first or "{}")
    right: dict[str, Any] = json.loads(second)
    return tuple(
        HeaderPair(
            name=name,
            first=_text(name, left.get(name), redactor),
            second=_text(name, right.get(name), redactor),
            differs=left.get(name) != right.get(name),
        )
        for name in sorted({*left, *right})
    )


def _text(name: str, value: Any, redactor: Redactor) -> str | None:
    return None if value is None else redactor.header(name, str(value))
