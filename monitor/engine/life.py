"""One process life of a worker: its row, its announcements, and what it remembers between batches.

What is remembered decides only where to look first, never what may run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import psycopg

from monitor import conf
from monitor.domain.consumer import Consumer
from monitor.engine.span import Span
from monitor.store import connections, workers
from monitor.store.leases import Lease

_SLOW_MILLISECONDS = 50.0
_STRIKES = 3
_STATEMENT_SECONDS = 25.0


class Life:
    """A worker process from its start to its end. Not shared between threads or processes."""

    def __init__(
        self,
        process: str = "child",
        *,
        random: Random | None = None,
        note: Callable[[int, float, int, float], None] | None = None,
        suspects_at_once: int = 50,
    ) -> None:
        """note: told (message id, time limit, fence, lease seconds) of a handler; else id 0.

        suspects_at_once: how many suspects of a crash share a transaction at most.
        """
        self.suspects_at_once = suspects_at_once
        self.random = random or Random()  # noqa: S311 - jitter, not a secret
        self._process = process
        self._note = note
        self._announcer: connections.Connection | None = None
        self._slot = 0
        self._announced = False
        self._after: dict[int, int] = {}
        self._next_lane: dict[Span, int] = {}
        self._looks: dict[int, int] = {}
        self._away: set[int] = set()
        self._suspects: set[int] = set()
        self._mean_milliseconds: dict[str, float] = {}
        self._failure_share: dict[str, float] = {}
        self._strikes: dict[int, int] = {}
        self._condemned: dict[int, str] = {}
        self._single_visits: dict[str, int] = {}
        self.leased: Lease | None = None
        self.has_begun_leased = False

    def holds(self, lease: Lease | None) -> None:
        """A session is leased to us, as soon as that is committed; None: what came of it is told.

        One that is still here in a later turn was left behind by an error.
        """
        self.leased, self.has_begun_leased = lease, False

    def begins(self, message_id: int, consumer: Consumer, *, fence: int = 0) -> None:
        """A handler starts now; under a lease (its fence) it has no time limit but the renewals."""
        self.has_begun_leased = bool(fence)
        if self._note is None:
            return
        if fence:
            self._note(message_id, 0.0, fence, consumer.lease_seconds)
        else:
            self._note(message_id, consumer.timeout_seconds, 0, 0.0)

    def writes(self, message_id: int, consumer: Consumer, *, fence: int) -> None:
        """Statements of the engine between two acts of a handler under a lease: they have a limit.

        Else a COMMIT whose answer never comes would keep its lease for ever.
        """
        if self._note is not None:
            self._note(message_id, _STATEMENT_SECONDS, fence, consumer.lease_seconds)

    def rests(self) -> None:
        """No handler runs, only statements of the engine: they too have a limit.

        psycopg has none for a COMMIT whose answer never comes; the parent then kills this process.
        """
        if self._note is not None:
            self._note(0, _STATEMENT_SECONDS, 0, 0.0)

    def cursor(self) -> psycopg.Cursor[Any]:
        """A psycopg cursor on Django's connection, inside the handlers' transaction."""
        return connections.shared_cursor()

    @property
    def slot(self) -> int:
        """The row of this life in comboio_worker; opens it on first use."""
        self._connection()
        return self._slot

    def announce(self, ids: Sequence[int]) -> None:
        """Commit, on a connection of our own, which messages run next: evidence if we die."""
        cursor = self._connection().cursor()
        if not workers.announce(cursor, self._slot, ids):
            self._register(cursor)
            workers.announce(cursor, self._slot, ids)
        self._announced = bool(ids)

    def withdraw(self) -> None:
        """Nothing of ours runs: no later crash may blame the last batch."""
        if self._announced:
            self.announce(())

    def beat(self) -> None:
        """Say that this process lives."""
        own = self._connection()
        if not workers.beat(own.cursor(), self._slot):
            self._register(own.cursor())

    def end(self) -> None:
        """Close this life cleanly: its row goes, nothing is suspect."""
        if self._announcer is not None and not self._announcer.closed:
            workers.leave(self._announcer.cursor(), self._slot)
            self._announcer.close()
        self._announcer = None

    def first_lane(self, span: Span) -> int:
        """Where the next claim within a span of lanes starts."""
        return self._next_lane.get(span, span.first)

    def go_on_after(self, span: Span, lane: int | None) -> None:
        """The next claim starts after this lane; None: from the beginning."""
        follows = span.first if lane is None else lane + 1
        self._next_lane[span] = follows if follows < span.end else span.first

    def finds_away(self, consumer_id: int) -> None:
        """The downstream of a consumer was away just now: leave it alone in this turn."""
        self._away.add(consumer_id)

    def is_away(self, consumer_id: int) -> bool:
        """Whether the downstream of a consumer was away in this turn."""
        return consumer_id in self._away

    def finds_suspects(self, consumer_id: int) -> None:
        """Messages of the consumer stood in the batch of a process that died."""
        self._suspects.add(consumer_id)

    def takes_suspects(self, consumer_id: int) -> bool:
        """Whether suspects were found since the last look."""
        is_there = consumer_id in self._suspects
        self._suspects.discard(consumer_id)
        return is_there

    def begins_turn(self) -> None:
        """Every consumer gets its turn again."""
        self._away.clear()

    def look(self, consumer_id: int) -> int:
        """The number of this look at a consumer, counted from 1."""
        self._looks[consumer_id] = self._looks.get(consumer_id, 0) + 1
        return self._looks[consumer_id]

    def after(self, lanes: Sequence[int]) -> list[int]:
        """The session after which reading starts, per lane."""
        smallest = -(2**63)
        return [self._after.get(lane, smallest) for lane in lanes]

    def move_cursors(self, after: dict[int, int]) -> None:
        """Remember where the next visit of each lane starts."""
        self._after.update(after)

    def runs_single(self, consumer: Consumer) -> bool:
        """Whether to take one lane and one message a batch.

        Because its handlers are so slow that this is fairer to others, or because a batch could not
        be finished and the message that ended the transaction must be found.
        """
        is_slow = self._mean_milliseconds.get(consumer.name, 0.0) > _SLOW_MILLISECONDS
        return is_slow or self._single_visits.get(consumer.name, 0) > 0

    def search_culprit(self, consumer: Consumer, message_ids: Sequence[int]) -> None:
        """A batch could not be finished: look at its messages one at a time from now on."""
        if len(message_ids) == 1:
            self.condemn(message_ids[0], f"{consumer.name} ended the transaction it was given.")
        self._single_visits[consumer.name] = len(message_ids) + 1

    def is_failing(self, consumer: Consumer) -> bool:
        """Whether so many of its messages fail that one by one is faster than doing batches twice.

        Measured: at 5 % failures 3.9k against 1.7k messages/s, at 0.1 % 7.8k against 9.6k.
        """
        return self._failure_share.get(consumer.name, 0.0) > 0.005  # noqa: PLR2004

    def note_batch(
        self, consumer: Consumer, *, done: int, failed: int, milliseconds: float
    ) -> None:
        """Learn from a batch how slow and how failing its consumer is."""
        total = done + failed
        if not total:
            return
        self._single_visits[consumer.name] = self._single_visits.get(consumer.name, 0) - 1
        mean, share = milliseconds / total, failed / total
        name = consumer.name
        self._mean_milliseconds[name] = 0.5 * self._mean_milliseconds.get(name, mean) + 0.5 * mean
        self._failure_share[name] = 0.9 * self._failure_share.get(name, 0.0) + 0.1 * share

    def strike(self, message_id: int) -> None:
        """The database failed while this message ran; three times in a row condemn it."""
        self._strikes[message_id] = self._strikes.get(message_id, 0) + 1
        if self._strikes[message_id] >= _STRIKES:
            text = "The database connection was lost three times in a row while this message ran."
            self.condemn(message_id, text)

    def condemn(self, message_id: int, why: str) -> None:
        """Its handler broke the transaction, so nothing could be recorded: fail it next time."""
        self._condemned[message_id] = why

    def why_condemned(self, message_id: int) -> str | None:
        """Why the message must fail without running; None: it may run."""
        return self._condemned.get(message_id)

    def forgive(self, message_id: int) -> None:
        """The outcome of the message is settled."""
        self._strikes.pop(message_id, None)
        self._condemned.pop(message_id, None)

    def _connection(self) -> connections.Connection:
        if self._announcer is None or self._announcer.closed or self._announcer.broken:
            # A new connection keeps the row: the evidence of this life outlives a socket.
            self._announcer = connections.connect(
                autocommit=True, application_name="comboio announce"
            )
            self._announcer.execute("SET synchronous_commit = off")
            if self._slot:
                workers.live(self._announcer.cursor(), self._slot)
            else:
                self._register(self._announcer.cursor())
        return self._announcer

    def _register(self, cursor: psycopg.Cursor[Any]) -> None:
        self._slot = workers.register(cursor, self._process, conf.release())
        workers.live(cursor, self._slot)
