"""Forgets what is old enough, a chunk of rows in each transaction, so that nobody waits for it.

A purge goes through its table from the beginning to the end, rests, and begins again. Where it is
stands in memory only: a process that starts again starts at the beginning, which costs a look.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic, sleep
from typing import Literal, TypeAlias

from django.db import transaction

from monitor import conf
from monitor.domain import keys
from monitor.domain.consumer import NO_CONSUMER
from monitor.domain.settings import Retention
from monitor.domain.source import DAY_SECONDS
from monitor.store import chores, connections, lanes, planning, retention, rollup
from monitor.store.retention import Ended
from monitor.store.sql import Cursor

ROWS = 2_000  # of messages or records in a transaction
BLOCKS = 32  # of a table in a transaction: about 2,500 keys
RUN_SECONDS = 1.0
_STATEMENT_SECONDS = 10.0
_LOCK_SECONDS = 0.25
_WRITERS_SECONDS = 0.2
_LOOK_SECONDS = 0.005

Counts: TypeAlias = dict[str, int]  # what went, and how many


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one transaction did. next: where the following one begins; None: that was the end."""

    purged: Counts
    next: int | None


class _InUseError(Exception):
    """A session was needed again while it was forgotten: the chunk is rolled back."""


@dataclass(slots=True, kw_only=True)
class Purge:
    """One kind of record that goes when it is old, and where this process is with it."""

    name: str
    every_seconds: float = 5.0
    rests_seconds: float  # between the end of a walk and the beginning of the next
    chunk: Callable[[Cursor, Retention, int], Chunk]
    _at: int = 0
    _rests_until: float = 0.0

    def run(self) -> int:
        """Go on for about a second; how many rows went. Wants no transaction.

        Several processes may do it at once: they take turns, a chunk each.
        """
        purged, until = 0, monotonic() + RUN_SECONDS
        while self.is_due():
            found = self._one(conf.get().retention)
            if found is None:
                break
            purged += sum(found.purged.values())
            self._at = found.next or 0
            if found.next is None:
                self._rests_until = monotonic() + self.rests_seconds
            if monotonic() >= until:
                break
        return purged

    def is_due(self) -> bool:
        """Whether there is anything to look at: it does not rest."""
        return monotonic() >= self._rests_until

    def again(self) -> None:
        """Forget where it was: the next run begins at the beginning, at once."""
        self._at, self._rests_until = 0, 0.0

    def _one(self, kept: Retention) -> Chunk | None:
        """A chunk in a transaction of its own; None when another process is at it."""
        try:
            with transaction.atomic(durable=True):
                cursor = connections.shared_cursor()
                if not chores.begin(cursor, self.name, _STATEMENT_SECONDS):
                    return None
                lanes.wait_at_most(cursor, _LOCK_SECONDS)
                planning.by_index(cursor)
                chunk = self.chunk(cursor, kept, self._at)
                went = [(what, number) for what, number in chunk.purged.items() if number]
                rollup.add(cursor, [(NO_CONSUMER, "purged", *each) for each in went])
                return chunk
        except _InUseError:
            return Chunk({}, self._at + BLOCKS)


def _messages(ended: Ended, cursor: Cursor, kept: Retention, after: int) -> Chunk:
    """Messages that ended longer ago than their payload is kept, with their history."""
    walked = retention.walk(
        cursor, ended, after=after, limit=ROWS, seconds=kept.payload_days * DAY_SECONDS
    )
    old = [each.id for each in walked if each.is_old]
    free = retention.free(cursor, ended, old, key_seconds=kept.dedup_days * DAY_SECONDS)
    number = retention.forget_messages(cursor, free) if free else 0
    is_end = len(walked) < ROWS or walked[-1].is_beyond
    what = "message" if ended == "done" else ended  # the books count both apart
    return Chunk({what: number}, None if is_end else walked[-1].id)


def _keys(cursor: Cursor, kept: Retention, first: int) -> Chunk:
    """Keys that are no longer remembered."""
    seconds, end = kept.dedup_days * DAY_SECONDS, first + BLOCKS
    number = retention.forget_keys(cursor, first=first, end=end, seconds=seconds)
    return Chunk({"key": number}, _following(cursor, "comboio_dedup", end))


def _sessions(cursor: Cursor, kept: Retention, first: int) -> Chunk:
    """Sessions that nothing refers to, with how far they had come. Raises _InUseError.

    An ingest that found its session there before we deleted it is not seen before it commits, so
    we wait a moment for those that write now, and look again. One that comes later waits for us.
    """
    seconds, end = kept.dedup_days * DAY_SECONDS, first + BLOCKS
    unused = retention.unused_sessions(cursor, first=first, end=end, seconds=seconds)
    number = _forget_sessions(cursor, unused, seconds) if unused else 0
    return Chunk({"session": number}, _following(cursor, "comboio_session", end))


def _forget_sessions(cursor: Cursor, unused: list[tuple[int, int]], seconds: float) -> int:
    lane_of = {session: keys.lane(consumer, session) for session, consumer in unused}
    locked = lanes.lock_free(cursor, lane_of.values())
    gone = retention.forget_sessions(
        cursor, [each for each, lane in lane_of.items() if lane in locked], seconds=seconds
    )
    if gone:
        _wait_for(cursor, retention.session_writers(cursor))
        if retention.is_used(cursor, gone):
            raise _InUseError
        retention.forget_progress(cursor, gone)
    return len(gone)


def _wait_for(cursor: Cursor, writers: set[str]) -> None:
    until = monotonic() + _WRITERS_SECONDS
    while writers & retention.session_writers(cursor):
        if monotonic() >= until:
            raise _InUseError
        sleep(_LOOK_SECONDS)


def _following(
    cursor: Cursor, table: Literal["comboio_dedup", "comboio_session"], end: int
) -> int | None:
    return end if end < retention.blocks(cursor, table) else None


def _records(cursor: Cursor, kept: Retention, _: int) -> Chunk:
    """Resolved alerts, words on groups, clicks and acts: the oldest, so there is no place kept."""
    history, audit = kept.payload_days * DAY_SECONDS, kept.audit_days * DAY_SECONDS
    purged = {
        "alert": retention.forget_records(cursor, "alerts", limit=ROWS, seconds=history),
        "triage": retention.forget_records(cursor, "triage", limit=ROWS, seconds=audit),
        "click": retention.forget_records(cursor, "clicks", limit=ROWS, seconds=history),
        "audit": retention.forget_records(cursor, "audit", limit=ROWS, seconds=audit),
    }
    return Chunk(purged, 0 if ROWS in purged.values() else None)


PURGES = (
    Purge(name="purge done messages", rests_seconds=60.0, chunk=partial(_messages, "done")),
    Purge(
        name="purge discarded messages", rests_seconds=60.0, chunk=partial(_messages, "discarded")
    ),
    Purge(name="purge keys", rests_seconds=600.0, chunk=_keys),
    Purge(name="purge sessions", rests_seconds=3600.0, chunk=_sessions),
    Purge(name="purge records", rests_seconds=60.0, chunk=_records),
)
