"""Sessions: which is stuck, on what, and what waits behind it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.domain.states import State
from monitor.reports import effect_rows, message_rows
from monitor.reports.effect_values import Doubt, Lease, Recorded
from monitor.reports.message_values import Gate, MessageRow
from monitor.reports.page import FIRST_ID, LIMIT, Page, bounded, build, place
from monitor.reports.reading import Cursor, reading
from monitor.store import sql

SQL = sql.load(__file__)

CAP = 10_000  # a session's messages are counted exactly up to here
_STRIP_BEFORE, _STRIP_AFTER = 20, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A number that is missing, and the lowest one that waits for it."""

    missing: int
    before: int
    since: datetime

    @property
    def last(self) -> int:
        """The last number that is missing."""
        return max(self.missing, self.before - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session in the list. blocker: dead head, in doubt, held, retry, gap, alone, delayed or "".

    head: the message that runs next or blocks. reason: why it is blocked, in words.
    effect_id: the effect in doubt that blocks it. delayed: messages that their sender delayed,
    1,001 means more; next_due: when the first of them is due.
    """

    id: int
    consumer_id: int
    consumer: str
    key: str
    backlog: int
    head: int | None
    head_at: datetime | None
    blocker: str
    reason: str
    blocked_since: datetime | None
    retry_at: datetime | None
    version: int
    impact: float
    effect_id: int | None
    gap: Gap | None
    delayed: int
    next_due: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A process that has the lane of a session now. message_id: the first of its batch in it."""

    process: str
    host: str
    pid: int
    since: datetime
    message_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionList:
    """A page of sessions by backlog times age, and when the figures were taken."""

    page: Page[SessionRow]
    snapshot_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDetail:
    """One session. Counts are exact up to 10,000; a count of 10,001 means more.

    strip: its messages round the head in order (up to 20 before, 40 from the head on).
    head: first waiting message, or the dead one or the one in doubt that holds it.
    dead_version: what the verbs of a dead head name. recorded: the effects of the head.
    lease: who works on it in external mode; worker: who does in atomic mode. lane: what is locked
    to work on it, None before its first message.
    next: the number that runs next, None without numbers.
    ended: the last message of the session has run. delayed: held back by their sender.
    """

    id: int
    consumer_id: int
    consumer: str
    key: str
    created_at: datetime | None
    ready: int
    dead: int
    head: MessageRow | None
    gate: Gate | None
    dead_version: int
    recorded: Recorded | None
    doubt: Doubt | None
    lease: Lease | None
    worker: Worker | None
    lane: int | None
    strip: tuple[MessageRow, ...]
    next: int | None
    ended: bool
    gap: Gap | None
    delayed: int
    next_due: datetime | None


def page(
    cursor: str | None = None,
    *,
    limit: int = LIMIT,
    consumer: int | None = None,
    blocked: bool = False,
) -> SessionList:
    """Sessions with a backlog or a hold, by backlog times age. blocked: only the held ones."""
    start, limit = place(cursor, float), bounded(limit)
    values: dict[str, Any] = {
        "back": start.back,
        "sort": start.sort,
        "id": start.id,
        "count": limit + 1,
        "consumer": consumer,
        "blocked": blocked,
    }
    with reading() as open_cursor:
        open_cursor.execute(SQL["list"], values)
        rows = [_row(found) for found in open_cursor.fetchall()]
        open_cursor.execute(SQL["snapshot_at"])
        (snapshot_at,) = open_cursor.fetchone()
    found = build(rows, start, limit, key=lambda row: (row.impact, row.id))
    return SessionList(page=found, snapshot_at=snapshot_at)


def detail(session_id: int) -> SessionDetail | None:
    """One session, or None when there is none with this id."""
    if abs(session_id) > FIRST_ID:
        return None
    with reading() as cursor:
        cursor.execute(SQL["one"], {"session": session_id})
        known = cursor.fetchone()
        return None if known is None else _detail(cursor, session_id, known)


def _detail(cursor: Cursor, session_id: int, known: tuple[Any, ...]) -> SessionDetail:
    cursor.execute(SQL["lane"], {"session": session_id})
    lane = cursor.fetchone()
    gate = message_rows.gate(cursor, session_id)
    dead_message = gate.dead_message if gate else None
    values: dict[str, Any] = {
        "session": session_id,
        "lane": lane[0] if lane else -1,
        "dead_message": dead_message,
        "count": CAP + 1,
        "numbered": known[4],
    }
    cursor.execute(SQL["counts"], values)
    ready, dead, first, dead_version = cursor.fetchone()
    doubt = effect_rows.doubt(cursor, session_id)
    head = dead_message if dead_message is not None else first
    if doubt is not None:
        head = doubt.message_id
    strip = _strip(cursor, session_id, head, numbered=known[4])
    cursor.execute(SQL["progress"], values)
    number, ended, gap_since, gap_before, delayed, next_due = cursor.fetchone()
    return SessionDetail(
        id=session_id,
        consumer_id=known[0],
        consumer=known[1],
        key=known[2],
        created_at=known[3],
        ready=ready,
        dead=dead,
        head=next((row for row in strip if row.id == head), None),
        gate=gate,
        dead_version=dead_version or 0,
        recorded=None if head is None else effect_rows.recorded(cursor, [head]).get(head),
        doubt=doubt,
        lease=effect_rows.lease(cursor, session_id),
        worker=_worker(cursor, [row.id for row in strip if row.state == State.RUNNING]),
        lane=lane[0] if lane else None,
        strip=tuple(strip),
        next=number if known[4] else None,
        ended=ended,
        gap=_gap(number, gap_since, gap_before),
        delayed=delayed,
        next_due=next_due,
    )


def _strip(
    cursor: Cursor, session_id: int, head: int | None, *, numbered: bool
) -> list[MessageRow]:
    values: dict[str, Any] = {
        "session": session_id,
        "head": FIRST_ID if head is None else head,  # nothing waits: the newest messages
        "before": _STRIP_BEFORE,
        "after": _STRIP_AFTER,
    }
    cursor.execute(SQL["strip"], values)
    rows = message_rows.of(cursor, [row[0] for row in cursor.fetchall()])
    if numbered:
        rows.sort(key=lambda row: (row.id if row.sequence is None else row.sequence, row.id))
    return rows


def _worker(cursor: Cursor, ids: list[int]) -> Worker | None:
    if not ids:
        return None
    cursor.execute(SQL["at_work"], {"ids": ids})
    row = cursor.fetchone()
    if row is None:
        return None
    return Worker(process=row[0], host=row[1], pid=row[2], since=row[3], message_id=row[4])


def _gap(missing: int | None, since: datetime | None, before: int | None) -> Gap | None:
    if missing is None or since is None:
        return None
    return Gap(missing=missing, before=missing + 1 if before is None else before, since=since)


def _blocker(values: tuple[Any, ...]) -> tuple[str, str]:
    """What keeps a session of the list from running, the strongest first, and why."""
    held, dead_message, retry_at, solo_until, held_by, held_reason, error = values[7:14]
    by = f"{held_by}: {held_reason}" if held_reason else held_by
    known = (
        (values[17] is not None, "in doubt", values[18]),
        (held, "held", by),
        (dead_message is not None, "dead head", error),
        (retry_at is not None, "retry", error),
        (values[20] is not None, "gap", ""),
        (solo_until is not None, "alone", ""),
        (values[4] == 0 and values[22] > 0, "delayed", ""),
    )
    return next(((blocker, reason) for holds, blocker, reason in known if holds), ("", ""))


def _row(values: tuple[Any, ...]) -> SessionRow:
    blocker, reason = _blocker(values)
    gap = _gap(*values[19:22])
    return SessionRow(
        id=values[0],
        consumer_id=values[1],
        consumer=values[2],
        key=values[3],
        backlog=values[4],
        head=values[5],
        head_at=values[6],
        blocker=blocker,
        reason=reason,
        blocked_since=gap.since if gap and blocker == "gap" else values[14] if blocker else None,
        retry_at=values[9],
        version=values[15],
        impact=values[16],
        effect_id=values[17],
        gap=gap,
        delayed=values[22],
        next_due=values[23],
    )
