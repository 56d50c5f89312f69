"""Everything about one message: its state, its story in order of time, its neighbours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from monitor.domain import keys
from monitor.reports import effect_rows, message_rows, message_waits, payloads, redacting
from monitor.reports.effect_values import EffectRow
from monitor.reports.message_values import (
    Dead,
    Detail,
    Done,
    DuplicateRow,
    MessageRow,
    MismatchLink,
    Moment,
)
from monitor.reports.reading import Cursor
from monitor.reports.redacting import Redactor
from monitor.store import sql

SQL = sql.load(__file__)

_OPEN = Redactor(policy=redacting.OPEN)
# The key of a message that was accepted as second: the first key, "~", 12 hex of its fingerprint.
_ACCEPTED = re.compile(r"^(?P<first>.+)~[0-9a-f]{12}$", re.DOTALL)


def read(cursor: Cursor, row: MessageRow) -> Detail:
    """All that is known of this message but its payload, without what is redacted."""
    redactor = redacting.of_message(cursor, row.id, row.consumer)
    session = row.session_id or -row.id
    envelope = _envelope(cursor, row.id)
    headers = redactor.headers(headers_of(envelope[1]))
    dead = _dead(cursor, row.id, redactor)
    done = _done(cursor, row.id, redactor)
    duplicates = _duplicates(cursor, row.id)
    mismatches = _mismatches(cursor, row.id)
    counted = _counted(cursor, row, row.key)
    before, after = _neighbours(cursor, row)
    effects = effect_rows.of_message(cursor, row.id, redactor)
    gate, doubt = message_rows.gate(cursor, session), effect_rows.doubt(cursor, session)
    ended = done.at if done else dead.at if dead else None
    moments = [
        *_arrivals(row, duplicates, mismatches),
        *message_waits.acts(cursor, row, ended, redactor),
        *message_waits.standing(cursor, row, gate, doubt),
        *_effects(cursor, effects, redactor),
        *_endings(_events(cursor, row.id, redactor), dead, done),
    ]
    return Detail(
        row=row,
        content_type=envelope[0],
        headers=headers,
        is_redacted=headers != headers_of(envelope[1]) or (done is not None and done.is_redacted),
        correlation_id=envelope[2],
        traceparent=envelope[3],
        is_last=envelope[4],
        sent_at=envelope[5],
        not_before=envelope[6],
        gate=gate,
        dead=dead,
        done=done,
        version=dead.version if dead else 0,
        duplicates_count=counted[1],
        mismatches_count=counted[2],
        duplicates=tuple(duplicates),
        mismatches=tuple(mismatches),
        accepted_from=_accepted_from(cursor, row),
        effects=tuple(effects),
        doubt=doubt,
        timeline=tuple(sorted(moments, key=lambda moment: moment.at)),
        before=tuple(before),
        after=tuple(after),
    )


def headers_of(text: str | None) -> tuple[tuple[str, str], ...]:
    """Stored headers as pairs, by name."""
    found: dict[str, Any] = json.loads(text or "{}")
    return tuple((name, str(found[name])) for name in sorted(found))


def _envelope(cursor: Cursor, message_id: int) -> tuple[Any, ...]:
    cursor.execute(SQL["envelope"], {"id": message_id})
    return cursor.fetchone() or ("", "{}", "", "", False, None, None)


def _dead(cursor: Cursor, message_id: int, redactor: Redactor) -> Dead | None:
    cursor.execute(SQL["dead"], {"id": message_id})
    row = cursor.fetchone()
    if row is None:
        return None
    return Dead(
        reason=row[0],
        error_class=row[1],
        error=redactor.text(row[2]),
        cause=row[3],
        attempts=row[4],
        at=row[5],
        version=row[6],
        discarded_at=row[7],
        discarded_by=row[8],
        note=redactor.text(row[9]),
    )


def _done(cursor: Cursor, message_id: int, redactor: Redactor) -> Done | None:
    cursor.execute(SQL["done"], {"id": message_id})
    row = cursor.fetchone()
    if row is None:
        return None
    result = row[3] or ""
    shown = payloads.pretty(result, redactor) if result else ""
    return Done(
        at=row[0],
        milliseconds=row[1],
        attempts=row[2],
        result=shown,
        is_redacted=bool(result) and shown != payloads.pretty(result, _OPEN),
    )


def _duplicates(cursor: Cursor, message_id: int) -> list[DuplicateRow]:
    cursor.execute(SQL["duplicates"], {"id": message_id})
    return [
        DuplicateRow(number=row[0], at=row[1], source=row[2], cause=row[3], gap_seconds=row[4])
        for row in cursor.fetchall()
    ]


def _mismatches(cursor: Cursor, message_id: int) -> list[MismatchLink]:
    cursor.execute(SQL["mismatches"], {"id": message_id})
    return [
        MismatchLink(id=row[0], at=row[1], count=row[2], verdict=row[3], accepted_id=row[4])
        for row in cursor.fetchall()
    ]


def _counted(cursor: Cursor, row: MessageRow, key: str) -> tuple[int, int, int]:
    """(first message's id, duplicates, mismatches) of the dedup record; zeros when it expired."""
    cursor.execute(
        SQL["dedup"],
        {"consumer": row.consumer_id, "key": keys.dedup_key(row.origin, key)},
    )
    found = cursor.fetchone()
    return (0, 0, 0) if found is None else (found[0], found[1], found[2])


def _accepted_from(cursor: Cursor, row: MessageRow) -> int | None:
    """The mismatch whose second payload this message is, found through the first one's key."""
    match = _ACCEPTED.match(row.key)
    if match is None:
        return None
    first = _counted(cursor, row, match["first"])[0]
    found = [each for each in _mismatches(cursor, first) if each.accepted_id == row.id]
    return found[0].id if found else None


def _neighbours(cursor: Cursor, row: MessageRow) -> tuple[list[MessageRow], list[MessageRow]]:
    if row.session_id is None:
        return [], []
    cursor.execute(SQL["neighbours"], {"session": row.session_id, "id": row.id, "count": 5})
    ids = sorted(found[0] for found in cursor.fetchall())
    rows = message_rows.of(cursor, ids)
    return [each for each in rows if each.id < row.id], [each for each in rows if each.id > row.id]


def _events(cursor: Cursor, message_id: int, redactor: Redactor) -> list[Moment]:
    cursor.execute(SQL["events"], {"id": message_id})
    return [_event(redactor, *row) for row in cursor.fetchall()]


def _event(
    redactor: Redactor, at: datetime, kind: str, actor: str, attempt: int | None, detail: str
) -> Moment:
    found: dict[str, Any] = json.loads(detail, parse_float=str)
    values = {
        name: redactor.text(each) if isinstance(each, str) else each for name, each in found.items()
    }
    text = values.get("error") or values.get("note") or values.get("reason") or ""
    return Moment(at=at, kind=kind, actor=actor, attempt=attempt, text=str(text), detail=values)


def _arrivals(
    row: MessageRow, duplicates: list[DuplicateRow], mismatches: list[MismatchLink]
) -> Iterator[Moment]:
    yield _moment(row.received_at, "received", source=row.source)
    for each in duplicates:
        yield _moment(
            each.at,
            "duplicate",
            number=each.number,
            cause=each.cause,
            source=each.source,
            gap_seconds=each.gap_seconds,
        )
    for link in mismatches:
        yield _moment(link.at, "mismatch", mismatch=link.id, count=link.count)


def _effects(cursor: Cursor, effects: list[EffectRow], redactor: Redactor) -> Iterator[Moment]:
    """When each effect was begun, and what was learnt about it."""
    names = {each.id: each.name for each in effects}
    for each in effects:
        yield _moment(each.started_at, "effect", effect_id=each.id, effect=each.name, key=each.key)
    for number, one in effect_rows.evidence(cursor, list(names), redactor):
        yield Moment(
            at=one.at,
            kind="evidence",
            actor=one.actor,
            attempt=None,
            text="",
            detail={"effect_id": number, "effect": names[number], "evidence": one},
        )


def _endings(events: list[Moment], dead: Dead | None, done: Done | None) -> Iterator[Moment]:
    """The events, and the states that no event tells of."""
    yield from events
    told = {event.kind for event in events}
    if dead is not None and "dead" not in told:
        yield _moment(dead.at, "dead", dead.error, reason=dead.reason, attempts=dead.attempts)
    if dead is not None and dead.discarded_at is not None and "discard" not in told:
        yield Moment(
            at=dead.discarded_at,
            kind="discarded",
            actor=dead.discarded_by,
            attempt=None,
            text=dead.note,
            detail={},
        )
    if done is not None:
        yield _moment(
            done.at,
            "done",
            milliseconds=done.milliseconds,
            attempts=done.attempts,
            result=done.result,
        )


def _moment(at: datetime, kind: str, text: str = "", **detail: Any) -> Moment:
    return Moment(at=at, kind=kind, actor="", attempt=None, text=text, detail=detail)
