"""What is wrong now, worst first, each with the verb that mends it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from monitor.reports import dead_letters, effect_rows, growth, system, triage
from monitor.reports.consumers import ConsumerRow
from monitor.reports.effect_values import Recorded
from monitor.reports.reading import Cursor
from monitor.store import sql

SQL = sql.load(__file__)

_STALE_SECONDS = 30  # the clock takes the snapshot every 5 s while there is a backlog
_MOST_CAUSES = 10
_WINDOW = {"seconds": growth.MINUTES * 60}


class ProblemKind(StrEnum):
    """What can be wrong, worst first."""

    NO_WORKERS = "no workers"  # messages wait and no worker lives
    STALLED = "stalled"  # a backlog, nothing held, and nothing done for 2 minutes
    CONFLICT = "conflict"  # evidence against a decision about an effect
    IN_DOUBT = "effect in doubt"
    HELD_SESSION = "held session"
    GAP = "gap"  # a number of a session is missing, longer than its consumer waits quietly
    THROTTLED_CONSUMER = "throttled consumer"
    HELD_CONSUMER = "held consumer"
    DEAD_LETTER = "dead letter"
    MISMATCH = "mismatch"
    STALE_FIGURES = "stale figures"  # the clock has not taken the snapshot: figures are old


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, with the verb that mends it.

    count: how many of its kind (held sessions, dead messages, mismatches). size: messages that
    wait because of it. subject: the session's key, the cause, the message's key, or "".
    verb: requeue (target: the dead message), requeue_cause (cause = subject, seen = up_to_version),
    resume (a session or a consumer), ask (the provider of an effect), ask_all (about all of the
    consumer's), skip_gap (seen: the missing number), keep_first (of a mismatch), or open (a page).
    grown: how much its count or size grew in the last 10 minutes; None: not counted.
    recorded: the effects that a requeue would meet. numbers: first and last one missing in a gap.
    target_kind: message, session, consumer, cause, mismatch, effect or system. seen: the version to
    name. snoozed_until: all of it sleeps until then, as snoozed_by said.
    """

    kind: ProblemKind
    consumer_id: int
    consumer: str
    subject: str
    title: str
    since: datetime | None
    count: int
    size: int
    verb: str
    target_kind: str
    target_id: int
    seen: int
    session_id: int | None = None
    recorded: Recorded | None = None
    numbers: tuple[int, int] | None = None
    grown: int | None = None
    snoozed_until: datetime | None = None
    snoozed_by: str = ""


def find(
    cursor: Cursor,
    rows: Sequence[ConsumerRow],
    *,
    now: datetime,
    workers: int,
    snapshot_at: datetime | None,
) -> list[Problem]:
    """All problems: by kind, then by how many messages wait for each, then by their number.

    Those that sleep come last.
    """
    found = [
        *_work(cursor, rows, workers),
        *_conflicts(cursor),
        *_in_doubt(cursor),
        *_held_sessions(cursor),
        *_gaps(cursor),
        *_throttled(rows),
        *_held_consumers(cursor, rows),
        *_dead_letters(cursor, rows),
        *_mismatches(cursor),
        *_figures(cursor, now, snapshot_at),
    ]
    asleep = triage.sleeping(cursor)
    kinds = list(ProblemKind)
    return sorted(
        (_with_snooze(each, asleep) for each in found),
        key=lambda each: (
            each.snoozed_until is not None,
            kinds.index(each.kind),
            -each.size,
            -each.count,
        ),
    )


def _with_snooze(one: Problem, asleep: dict[tuple[str, int, str], tuple[datetime, str]]) -> Problem:
    cause = one.subject if one.kind is ProblemKind.DEAD_LETTER else ""
    found = asleep.get((one.kind, one.consumer_id, cause))
    return one if found is None else replace(one, snoozed_until=found[0], snoozed_by=found[1])


def _work(cursor: Cursor, rows: Sequence[ConsumerRow], workers: int) -> Iterator[Problem]:
    backlog = sum(row.backlog - row.parked for row in rows)
    if backlog > 0 and workers == 0:
        # One sentence instead of one per consumer: without workers everything stands still.
        yield _problem(
            ProblemKind.NO_WORKERS,
            since=system.last_heartbeat(cursor),
            size=backlog,
            grown=sum(row.grown for row in rows),
            target=("system", 0),
        )
        return
    for row in rows:
        if row.is_stalled:
            yield _problem(
                ProblemKind.STALLED,
                owner=(row.id, row.name),
                since=row.oldest_at,
                size=row.backlog,
                grown=row.grown,
                target=("consumer", row.id),
            )


def _conflicts(cursor: Cursor) -> Iterator[Problem]:
    cursor.execute(SQL["conflicts"], {"count": _MOST_CAUSES})
    for number, name, effect, text, since in cursor.fetchall():
        yield _problem(
            ProblemKind.CONFLICT,
            owner=(number, name),
            title=text,
            since=since,
            target=("effect", effect),
        )


def _in_doubt(cursor: Cursor) -> Iterator[Problem]:
    cursor.execute(SQL["in_doubt"], _WINDOW)
    for values in cursor.fetchall():
        # The worst of several tells whether the others can probably be asked, too.
        verb = ("ask" if values[5] == 1 else "ask_all") if values[4] else "open"
        yield _problem(
            ProblemKind.IN_DOUBT,
            owner=(values[0], values[1]),
            subject=values[3],
            title=values[9],
            since=values[7],
            count=values[5],
            size=int(values[6]),
            verb=verb,
            target=("effect", values[2]),
            seen=values[8],
            grown=values[10],
        )


def _held_sessions(cursor: Cursor) -> Iterator[Problem]:
    cursor.execute(SQL["held_sessions"])
    found = cursor.fetchall()
    effects = effect_rows.recorded(cursor, [row[5] for row in found if row[5] is not None])
    arrivals = growth.arrivals(cursor, [row[2] for row in found])
    for values in found:
        session, key, held, dead_message, version, dead_version = values[2:8]
        # A hold by a person goes first: the dead head behind it would not run anyway.
        is_dead_head = dead_message is not None and not held and dead_version is not None
        yield _problem(
            ProblemKind.HELD_SESSION,
            owner=(values[0], values[1]),
            subject=key,
            title=(values[9] or "") if is_dead_head else _by(values[13], values[14]),
            since=values[12],
            count=values[10],
            size=int(values[11]),
            verb="requeue" if is_dead_head else "resume",
            target=("message", dead_message) if is_dead_head else ("session", session),
            seen=dead_version if is_dead_head else version,
            session_id=session,
            recorded=effects.get(dead_message),
            grown=arrivals[session],
        )


def _gaps(cursor: Cursor) -> Iterator[Problem]:
    cursor.execute(SQL["gaps"])
    found = cursor.fetchall()
    arrivals = growth.arrivals(cursor, [row[2] for row in found])
    for number, name, session, key, missing, before, since, count, size in found:
        last = missing if before is None else max(missing, before - 1)
        yield _problem(
            ProblemKind.GAP,
            owner=(number, name),
            subject=key,
            numbers=(missing, last),
            since=since,
            count=count,
            size=int(size),
            verb="skip_gap" if count == 1 else "open",
            seen=missing,
            grown=arrivals[session],
            target=("session", session),
            session_id=session,
        )


def _throttled(rows: Sequence[ConsumerRow]) -> Iterator[Problem]:
    for row in rows:
        if row.throttle is not None:
            yield _problem(
                ProblemKind.THROTTLED_CONSUMER,
                owner=(row.id, row.name),
                title=row.throttle.error,
                since=row.throttle.since,
                size=row.backlog,
                grown=row.grown,
                target=("consumer", row.id),
            )


def _held_consumers(cursor: Cursor, rows: Sequence[ConsumerRow]) -> Iterator[Problem]:
    cursor.execute(SQL["held_consumers"])
    known = {row.id: row for row in rows}
    for number, held_at, held_by, reason in cursor.fetchall():
        row = known.get(number)
        if row is not None:
            yield _problem(
                ProblemKind.HELD_CONSUMER,
                owner=(row.id, row.name),
                title=_by(held_by, reason),
                since=held_at,
                size=row.backlog,
                grown=row.grown,
                verb="resume",
                target=("consumer", row.id),
                seen=row.version,
            )


def _dead_letters(cursor: Cursor, rows: Sequence[ConsumerRow]) -> Iterator[Problem]:
    cursor.execute(SQL["causes"], {"count": _MOST_CAUSES})
    owners = {cause: (number, since) for cause, number, since in cursor.fetchall()}
    names = {row.id: row.name for row in rows}
    deaths = growth.deaths(cursor)
    for group in dead_letters.by_cause(cursor, list(owners)):
        number, since = owners[group.cause]
        yield _problem(
            ProblemKind.DEAD_LETTER,
            owner=(number, names.get(number, ", ".join(group.consumers))),
            subject=group.cause,
            title=group.sample_error,
            since=since,
            count=group.count,
            verb="requeue_cause",
            target=("cause", group.sample_id),
            seen=group.max_version,
            recorded=group.recorded,
            grown=deaths.get(group.cause, 0),
        )


def _mismatches(cursor: Cursor) -> Iterator[Problem]:
    cursor.execute(SQL["mismatches"], _WINDOW)
    for number, name, count, since, oldest, key, version, grown in cursor.fetchall():
        yield _problem(
            ProblemKind.MISMATCH,
            owner=(number, name),
            subject=key or "",
            since=since,
            count=count,
            verb="keep_first" if count == 1 else "open",
            target=("mismatch", oldest),
            seen=version,
            grown=grown,
        )


def _figures(cursor: Cursor, now: datetime, snapshot_at: datetime | None) -> Iterator[Problem]:
    is_old = snapshot_at is None or now - snapshot_at > timedelta(seconds=_STALE_SECONDS)
    cursor.execute(SQL["anything_ready"])
    if is_old and cursor.fetchone()[0]:
        yield _problem(ProblemKind.STALE_FIGURES, since=snapshot_at, target=("system", 0))


def _by(person: str, reason: str) -> str:
    return f"{person}: {reason}" if reason else person


def _problem(
    kind: ProblemKind, *, target: tuple[str, int], owner: tuple[int, str] = (0, ""), **more: Any
) -> Problem:
    values: dict[str, Any] = {
        "subject": "",
        "title": "",
        "count": 1,
        "size": 0,
        "verb": "open",
        "seen": 0,
        **more,
    }
    return Problem(
        kind=kind,
        consumer_id=owner[0],
        consumer=owner[1],
        target_kind=target[0],
        target_id=target[1],
        **values,
    )
