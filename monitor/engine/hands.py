"""What the handler of an external consumer holds: its lease, its effects, its one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from django.db import transaction

from monitor.domain.effect import EffectInDoubtError
from monitor.domain.errors import HandlerError, LeaseLostError, MarkerError
from monitor.domain.message import Message
from monitor.engine import doubt, failure, handler, histogram, numbers, throttle, verdict
from monitor.engine.calling import Caller
from monitor.engine.choose import Candidate
from monitor.engine.life import Life
from monitor.engine.target import Target
from monitor.store import gates, leases, planning, queue
from monitor.store.leases import Lease


@dataclass(slots=True)
class Commit:
    """What a handler may say inside its transaction: a result, or "go on later"."""

    result: Any = None
    again_seconds: float | None = None

    def again_after(self, seconds: float) -> None:
        """Keep what was written so far, and run the message again after so many seconds."""
        self.again_seconds = max(seconds, 0.0)


@dataclass(slots=True)
class Hands:
    """One run of one message: the lease, and whether the run is finished."""

    life: Life
    target: Target
    lease: Lease
    pick: Candidate
    body: queue.Body
    started: float = field(default_factory=perf_counter)
    is_inside: bool = False
    is_finished: bool = False

    def effect(self, message: Message, name: str, request: Any) -> Any:
        """A declared call to the outside; refused inside the transaction and after it."""
        if self.is_inside or self.is_finished:
            raise HandlerError(
                f"The effect “{name}” was called inside or after message.transaction(): if that "
                "rolled back, the outside would keep what we forgot. Make effects first."
            )
        caller = Caller(
            consumer=self.target.consumer,
            consumer_id=self.target.id,
            lease=self.lease,
            settle=verdict.settle,
            writes=self._writes,
        )
        return caller.run(message, name, request)

    def _writes(self, is_writing: bool) -> None:
        consumer, fence = self.target.consumer, self.lease.fence
        if is_writing:
            self.life.writes(self.pick.id, consumer, fence=fence)
        else:
            self.life.begins(self.pick.id, consumer, fence=fence)

    @contextmanager
    def transaction(self) -> Iterator[Commit]:
        """The transaction of the effects in our own database; its end finishes the message."""
        if self.is_inside or self.is_finished:
            raise HandlerError("message.transaction() may be opened once for each message.")
        commit = Commit()
        with transaction.atomic(durable=True):
            cursor = self.life.cursor()
            xid = queue.transaction_id(cursor)
            self.is_inside = True
            try:
                yield commit
            finally:
                self.is_inside = False
            handler.check_transaction(self.target.consumer)
            # Its lease ends here: a parent that renewed it for a COMMIT without an answer would
            # keep the session from everybody for as long as this process hangs.
            self.life.rests()
            self._finish(cursor, xid, commit)
        self.is_finished = True

    def _finish(self, cursor: Any, xid: int, commit: Commit) -> None:
        planning.by_index(cursor)
        if commit.again_seconds is not None:
            self.reschedule(cursor, commit.again_seconds, "goes on later, as its handler asked")
        else:
            self._mark_done(cursor, xid, handler.result_text(self.target.consumer, commit.result))
        if not leases.end(cursor, self.lease):  # the last act
            raise LeaseLostError(
                f"Message {self.pick.id}: the lease was lost before the commit; all is rolled back."
            )

    def _mark_done(self, cursor: Any, xid: int, result: str | None) -> None:
        unknown = doubt.unknown_effect(cursor, self.pick.id)
        if unknown is not None:  # The handler hid it; the message must not count as done.
            raise EffectInDoubtError(str(unknown))
        finished = queue.Finished(
            lane=self.pick.lane,
            session=self.pick.session,
            id=self.pick.id,
            milliseconds=(perf_counter() - self.started) * 1000.0,
            attempts=self.pick.failed_attempts + 1,
            result=result,
            type=self.body.type,
        )
        counters = histogram.counters([finished], 0)
        if queue.finish(cursor, self.target.id, xid, [finished], counters) != 1:
            raise MarkerError(f"Message {self.pick.id} left the queue meanwhile.", (self.pick.id,))
        queue.clear_gates(cursor, [self.pick.session], [self.pick.id])
        numbers.advance(cursor, self.target, numbers.passed(self.target, self.pick, self.body))
        throttle.learn(cursor, self.target, failure.Settled(), has_success=True)

    def reschedule(self, cursor: Any, seconds: float, why: str) -> None:
        """Run the message again after so many seconds; no attempt is counted. Wants the lane."""
        gates.fail(
            cursor,
            self.pick.session,
            self.pick.lane,
            head=self.pick.id,
            attempts=self.pick.failed_attempts,
            delay_seconds=seconds,
            error=why,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalMessage(Message):
    """The message of an external consumer: it can make effects, and open its transaction."""

    hands: Hands

    def effect(self, name: str, request: Any = None) -> Any:
        """The result of a declared effect: the same key and request on every attempt."""
        return self.hands.effect(self, name, request)

    def transaction(self) -> Any:
        """A context manager: the transaction whose last act marks the message as done."""
        return self.hands.transaction()
