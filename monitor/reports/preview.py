"""What runs next in a session once a verb is used: read from what stands there now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from monitor.domain import keys
from monitor.reports.reading import Cursor, reading
from monitor.store import sql

SQL = sql.load(__file__)

SHOWN = 5
_READ = SHOWN + 2  # one may be taken away, and one more says whether there are more
_BEFORE_ALL = -(2**63)  # what is put back goes before every number, as comboio_put_back says


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """One message that runs. number: its sender's, None for one without."""

    id: int
    number: int | None
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """What still keeps the session from running: consumer held, held, dead head, in doubt, retry.

    message_id: the dead one, the one in doubt or the one that waits for its retry. who: holds it.
    """

    kind: str
    who: str = ""
    message_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delayed:
    """A message whose number is given up although it is there: its sender delayed it."""

    id: int
    number: int
    due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a verb leads to. next: up to 5 messages in the order in which they run.

    given_up: first and last number that the session goes on without. without: the message that it
    goes on without. stops: what must end before any of it runs. gap: the number that is missing
    after next, and the one that waits for it. stale: how many of those looked at are set aside.
    message_id: the one that runs again; is_late when followers of it are done already.
    """

    next: tuple[Next, ...]
    more: bool
    stops: tuple[Stop, ...]
    gap: tuple[int, int] | None
    stale: int
    given_up: tuple[int, int] | None = None
    delayed: tuple[Delayed, ...] = ()
    without: int | None = None
    message_id: int | None = None
    is_late: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Previews:
    """Of one session; None where the verb has nothing to do."""

    skip_gap: Preview | None
    skip_head: Preview | None
    requeue_head: Preview | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    id: int
    place: int
    number: int | None
    is_last: bool
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    session_id: int
    numbered: bool
    next: int
    ended: bool
    gap_since: datetime | None
    gap_before: int | None
    is_consumer_held: bool
    held: bool
    held_by: str
    dead_message: int | None
    head: int | None  # waits for its retry
    doubted: int | None
    queue: tuple[_Waiting, ...] = field(default=())

    @property
    def first(self) -> int | None:
        """The lowest number that waits."""
        return next((each.place for each in self.queue if each.place >= 0), self.gap_before)


def of_session(session_id: int, consumer_id: int) -> Previews:
    """What each verb that lets this session go on would lead to."""
    with reading() as cursor:
        (found,) = _standings(cursor, [(session_id, consumer_id)])
        gap = _skip_gap(found)
        if gap is not None and gap.given_up is not None:
            gap = replace(gap, delayed=_delayed(cursor, session_id, *gap.given_up))
        dead = found.dead_message
        requeue = None if dead is None else _requeue(cursor, found, dead)
    return Previews(skip_gap=gap, skip_head=_skip_head(found), requeue_head=requeue)


def of_sessions(sessions: Iterable[tuple[int, int]]) -> dict[int, Previews]:
    """The same for a list of (session, consumer), but for the requeue and what is delayed."""
    wanted = list(sessions)
    if not wanted:
        return {}
    with reading() as cursor:
        return {
            each.session_id: Previews(
                skip_gap=_skip_gap(each), skip_head=_skip_head(each), requeue_head=None
            )
            for each in _standings(cursor, wanted)
        }


def of_requeue(message_id: int, session_id: int | None, consumer_id: int) -> Preview | None:
    """What runs next when this dead message is requeued or replayed; None: it was purged."""
    with reading() as cursor:
        wanted = [(session_id or -message_id, consumer_id)]
        (found,) = _standings(cursor, wanted)
        return _requeue(cursor, found, message_id)


def _standings(cursor: Cursor, wanted: Sequence[tuple[int, int]]) -> list[_Standing]:
    sessions = [session for session, _ in wanted]
    lanes = [keys.lane(consumer, session) for session, consumer in wanted]
    values: dict[str, Any] = {"sessions": sessions, "lanes": lanes, "count": _READ}
    cursor.execute(SQL["standings"], values | {"consumers": [each[1] for each in wanted]})
    found = [_standing(row) for row in cursor.fetchall()]
    numbered = {each.session_id: each.numbered for each in found}
    cursor.execute(SQL["queued"], values | {"numbered": [numbered[each] for each in sessions]})
    queues: dict[int, list[_Waiting]] = defaultdict(list)
    for session, *row in cursor.fetchall():
        queues[session].append(
            _Waiting(id=row[0], place=row[1], number=row[2], is_last=row[3], key=row[4])
        )
    return [replace(each, queue=_ordered(queues[each.session_id])) for each in found]


def _standing(row: tuple[Any, ...]) -> _Standing:
    return _Standing(
        session_id=row[0],
        numbered=row[1],
        next=row[2],
        ended=row[3],
        gap_since=row[4],
        gap_before=row[5],
        is_consumer_held=row[6],
        held=row[7],
        held_by=row[8],
        dead_message=row[9],
        head=row[10],
        doubted=row[11],
    )


def _ordered(queue: Iterable[_Waiting]) -> tuple[_Waiting, ...]:
    return tuple(sorted(queue, key=lambda each: (each.place, each.id)))


def _skip_gap(found: _Standing) -> Preview | None:
    if found.gap_since is None or found.first is None or found.first <= found.next:
        return None
    return replace(_walk(found, expected=found.first), given_up=(found.next, found.first - 1))


def _skip_head(found: _Standing) -> Preview | None:
    if found.dead_message is not None:
        return replace(_walk(replace(found, dead_message=None)), without=found.dead_message)
    head = next((each for each in found.queue if each.id == found.head), None)
    if head is None:
        return None
    left = replace(
        found, head=None, queue=tuple(each for each in found.queue if each.id != head.id)
    )
    if found.numbered and head.place >= 0:
        after = max(found.next, head.place + 1)
        left = replace(left, next=after, ended=found.ended or head.is_last)
    return replace(_walk(left), without=head.id)


def _requeue(cursor: Cursor, found: _Standing, message_id: int) -> Preview | None:
    cursor.execute(SQL["dead"], {"id": message_id})
    row = cursor.fetchone()
    if row is None:
        return None
    number, is_last, key, is_late = row
    place = (message_id if number is None else number) + _BEFORE_ALL
    again = _Waiting(
        id=message_id,
        place=place if found.numbered else message_id,
        number=number,
        is_last=is_last,
        key=key,
    )
    dead = None if found.dead_message == message_id else found.dead_message
    then = replace(found, dead_message=dead, queue=_ordered([again, *found.queue]))
    return replace(_walk(then), message_id=message_id, is_late=is_late)


def _delayed(cursor: Cursor, session_id: int, first: int, last: int) -> tuple[Delayed, ...]:
    cursor.execute(SQL["delayed"], {"session": session_id, "first": first, "last": last})
    return tuple(Delayed(id=row[0], number=row[1], due_at=row[2]) for row in cursor.fetchall())


def _walk(found: _Standing, expected: int | None = None) -> Preview:
    """Run the queue in mind: the engine's own rules of numbers, see monitor.engine.numbers."""
    expected, ended = found.next if expected is None else expected, found.ended
    runs: list[Next] = []
    stale, gap = 0, None
    for each in found.queue:
        if found.numbered and each.place >= 0:
            if ended or each.place < expected:
                stale += 1
                continue
            if each.place > expected:
                gap = (expected, each.place)
                break
            expected, ended = expected + 1, each.is_last
        runs.append(Next(id=each.id, number=each.number, key=each.key))
    return Preview(
        next=tuple(runs[:SHOWN]),
        more=len(runs) > SHOWN,
        stops=tuple(_stops(found)),
        gap=gap if len(runs) <= SHOWN else None,
        stale=stale,
    )


def _stops(found: _Standing) -> Iterable[Stop]:
    if found.is_consumer_held:
        yield Stop(kind="consumer held")
    if found.held:
        yield Stop(kind="held", who=found.held_by)
    if found.dead_message is not None:
        yield Stop(kind="dead head", message_id=found.dead_message)
    if found.doubted is not None:
        yield Stop(kind="in doubt", message_id=found.doubted)
    if found.head is not None:
        yield Stop(kind="retry", message_id=found.head)
