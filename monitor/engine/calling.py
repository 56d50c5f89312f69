"""Calls to the outside under a lease: recorded before they go out, settled by what came back.

The two-phase record of an effect (in progress → completed with result) after J. Gray and A. Reuter,
"Transaction Processing", 1992, §10.3 (testable actions), with the provider's kind deciding what may
follow an unknown outcome.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from math import inf
from time import monotonic
from typing import Any

import orjson
from django.db import transaction

from monitor.domain.consumer import Consumer
from monitor.domain.effect import (
    Call,
    Effect,
    EffectInDoubtError,
    EffectRefused,
    Evidence,
    Kind,
    NotDone,
    Told,
)
from monitor.domain.errors import HandlerError, LeaseLostError, RetryLater
from monitor.domain.message import Message
from monitor.domain.rendering import render
from monitor.engine.steadiness import WATCH
from monitor.store import connections, effects, leases, rollup
from monitor.store.effects import Record
from monitor.store.leases import Lease
from monitor.store.sql import Cursor

_ERROR_CHARACTERS = 300
_RECORDS = 3  # of one call, each made anew because this process stood still after the one before


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Makes the effects of one message, for the holder of its session's lease."""

    consumer: Consumer
    consumer_id: int
    lease: Lease
    settle: Callable[..., Any]  # verdict.settle, which stands above this module
    writes: Callable[[bool], None]  # told when statements of ours begin, and when they are over

    def run(self, message: Message, name: str, request: Any) -> Any:
        """The result of a declared effect: recorded earlier, found by asking, or by a call now.

        Wants no open transaction; opens its own short ones. Raises LeaseLostError, EffectRefused,
        EffectInDoubtError, RetryLater (settle time), or what the call raised.
        """
        declared = self.consumer.effect(name)
        if declared is None:
            known = ", ".join(each.name for each in self.consumer.effects) or "none"
            raise HandlerError(
                f"{self.consumer.name} declares no effect “{name}”; declared: {known}."
            )
        record = self._begin(declared, message, request)
        if record.state == "completed":
            return None if record.result is None else json.loads(record.result)
        if record.state == "failed":
            raise EffectRefused(record.error)
        if record.state == "in doubt":
            raise EffectInDoubtError(str(record.id))
        call = Call(
            key=record.key,
            request=request,
            message_id=message.id,
            traceparent=message.traceparent,
        )
        if record.is_unknown:
            settled = self._after_unknown(declared, record, call)
            if settled is not None:
                return settled.result
        return self._call(declared, record, call)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Short, and with a limit: an answer that never comes must not keep the lease for ever."""
        self.writes(True)
        try:
            with transaction.atomic(durable=True):
                yield
        finally:
            self.writes(False)

    def _begin(self, declared: Effect, message: Message, request: Any) -> Record:
        body = _canonical(self.consumer, declared, request)
        digest = blake2b(body, digest_size=16).digest()
        with self._transaction():
            cursor = connections.shared_cursor()
            self._check_lease(cursor, f"call the effect “{declared.name}”")
            effects.begin(
                cursor,
                {
                    "message": message.id,
                    "consumer": self.consumer_id,
                    "name": declared.name,
                    "key": _key(message, declared.name, digest),
                    "kind": declared.kind,
                    "request": body.decode(),
                    "request_hash": digest,
                    "settle_seconds": declared.settle_seconds,
                },
            )
            record = effects.of_message(cursor, message.id, declared.name)
        assert record is not None  # noqa: S101 - it was inserted, now or earlier
        if record.request_hash != digest:
            raise HandlerError(
                f"The effect “{declared.name}” of message {message.id} was begun with another "
                "request. A request must be the same on every attempt: no times, no random values."
            )
        return record

    def _after_unknown(self, declared: Effect, record: Record, call: Call) -> Evidence | None:
        """What must happen before another call. Evidence of done: no call; None: call again."""
        if declared.kind == Kind.KEYED:
            if record.is_key_old:
                raise EffectInDoubtError(str(record.id))
            return None
        if declared.reconcile is None:
            raise EffectInDoubtError(str(record.id))
        evidence = ask(declared, call)
        return self._weigh(declared, record, evidence)

    def _weigh(self, declared: Effect, record: Record, evidence: Evidence) -> Evidence | None:
        with self._transaction():
            cursor = connections.shared_cursor()
            self._check_lease(cursor, "act on an answer")
            early_seconds = record.unsettled_seconds(WATCH.look(cursor))
            keep(cursor, record.id, evidence, source="probe")
            if evidence.told == Told.DONE:
                complete(cursor, record, evidence, by="probe")
                return evidence
            if evidence.told == Told.REFUSED:
                fail(cursor, record, str(evidence.detail), by="probe")
            elif evidence.told == Told.NOT_DONE and not early_seconds:
                effects.step(cursor, record.id, "not done")
        if evidence.told == Told.REFUSED:
            raise EffectRefused(str(evidence.detail))
        if evidence.told == Told.NOT_DONE:
            if early_seconds:
                raise RetryLater(early_seconds + 0.01)
            return None
        raise EffectInDoubtError(str(record.id))

    def _record_call(self, declared: Effect, record: Record) -> None:
        """The call goes out next. A record that is not fresh any more is made anew.

        The settle time runs from the record: a process that was frozen behind it would call when
        others may already believe a "not done".
        """
        fresh_seconds = declared.settle_seconds / 2 or inf
        for _ in range(_RECORDS):
            began = monotonic()
            with self._transaction():
                cursor = connections.shared_cursor()
                self._check_lease(cursor, f"call the effect “{declared.name}”")
                if not effects.call(cursor, record.id, declared.key_window_seconds):
                    raise RetryLater(0.0, "the effect was settled meanwhile")
                count(cursor, record.consumer, "called")
            if monotonic() - began < fresh_seconds:
                return
        raise RetryLater(
            declared.settle_seconds, "this worker stands still between the record and the call"
        )

    def _call(self, declared: Effect, record: Record, call: Call) -> Any:
        self._record_call(declared, record)
        # An earlier call got no answer and may have acted: a denial of this one does not say.
        is_blind = record.is_unknown and declared.kind == Kind.KEYED
        try:
            result = declared.call(call)
        except NotDone as error:
            step = "no answer" if is_blind else "not done"
            self._learn(record, step, Told.NOT_DONE, error)
            raise
        except EffectRefused as error:
            if is_blind:
                self._learn(record, "no answer", Told.REFUSED, error)
                raise EffectInDoubtError(str(record.id)) from error
            self._answered(record, _said(Told.REFUSED, error))
            raise
        except Exception as error:
            self._learn(record, "no answer", Told.CANNOT_TELL, error)
            if declared.kind == Kind.NEITHER:
                raise EffectInDoubtError(str(record.id)) from error
            raise
        self._answered(record, Evidence(told=Told.DONE, result=result))
        return result

    def _answered(self, record: Record, evidence: Evidence) -> None:
        """Keep the outcome that the call told. A holder that lost its lease is heard as others are.

        What is known to have happened is not forgotten: it may settle what is in doubt by now.
        """
        with self._transaction():
            cursor = connections.shared_cursor()
            if leases.holds(cursor, self.lease) and _settled_by_call(cursor, record, evidence):
                keep(cursor, record.id, evidence, source="call")
                return
        with self._transaction():
            self.settle(connections.shared_cursor(), record.id, evidence, source="call")

    def _learn(self, record: Record, step: str, told: Told, error: Exception) -> None:
        with self._transaction():
            cursor = connections.shared_cursor()
            keep(cursor, record.id, _said(told, error), source="call")
            if leases.holds(cursor, self.lease):  # else the last step is that of another's call
                effects.step(cursor, record.id, step, render(error).text[:_ERROR_CHARACTERS])
            if told == Told.NOT_DONE:
                count(cursor, record.consumer, "not done")

    def _check_lease(self, cursor: Cursor, what: str) -> None:
        if not leases.holds(cursor, self.lease):
            raise LeaseLostError(f"The lease of the session was lost; it may not {what} any more.")


def ask(declared: Effect, call: Call) -> Evidence:
    """What the provider says about a call; a probe that fails cannot tell. Wants no transaction."""
    if declared.reconcile is None:
        return Evidence(told=Told.CANNOT_TELL, detail={"reason": "no reconcile function"})
    try:
        return declared.reconcile(call)
    except Exception as error:
        return _said(Told.CANNOT_TELL, error)


def keep(
    cursor: Cursor, effect_id: int, evidence: Evidence, *, source: str, actor: str = ""
) -> None:
    """Write evidence down; it is never changed."""
    detail = {**evidence.detail}
    if evidence.result is not None:
        detail["result"] = evidence.result
    if evidence.reference:
        detail["reference"] = evidence.reference
    effects.add_evidence(
        cursor, effect_id, source=source, verdict=evidence.told, actor=actor, detail=detail
    )


def complete(cursor: Cursor, record: Record, evidence: Evidence, *, by: str) -> bool:
    """The effect happened: keep its result. False: it had an outcome already."""
    is_settled = effects.settle(
        cursor,
        record.id,
        {
            "state": "completed",
            "result": None if evidence.result is None else orjson.dumps(evidence.result).decode(),
            "reference": evidence.reference,
            "error": "",
            "step": "answered" if by == "call" else "asked",
            "decided_by": by,
        },
    )
    if is_settled:
        count(cursor, record.consumer, "completed")
    return is_settled


def fail(cursor: Cursor, record: Record, error: str, *, by: str) -> bool:
    """The provider said no for good. False: the effect had an outcome already."""
    is_settled = effects.settle(
        cursor,
        record.id,
        {
            "state": "failed",
            "result": None,
            "reference": "",
            "error": error[:_ERROR_CHARACTERS],
            "step": "refused",
            "decided_by": by,
        },
    )
    if is_settled:
        count(cursor, record.consumer, "failed")
    return is_settled


def count(cursor: Cursor, consumer_id: int, label: str) -> None:
    """Count what became of an effect."""
    rollup.add(cursor, [(consumer_id, "effects", label, 1.0)])


def _settled_by_call(cursor: Cursor, record: Record, evidence: Evidence) -> bool:
    if evidence.told == Told.DONE:
        return complete(cursor, record, evidence, by="call")
    return fail(cursor, record, str(evidence.detail["error"]), by="call")


def _said(told: Told, error: BaseException) -> Evidence:
    rendered = render(error)
    detail = {"error_class": rendered.class_name, "error": rendered.text[:_ERROR_CHARACTERS]}
    return Evidence(told=told, detail=detail)


def _key(message: Message, name: str, digest: bytes) -> str:
    """The idempotency key: of this message, and of no other that gets its id after a restore."""
    own = f"{message.origin}\0{message.key}\0{message.received_at.isoformat()}".encode()
    mark = blake2b(digest + own, digest_size=4).hexdigest()
    return f"comboio-{message.id}-{name}-{mark}"


def _canonical(consumer: Consumer, declared: Effect, request: Any) -> bytes:
    try:
        return orjson.dumps(request, option=orjson.OPT_SORT_KEYS)
    except TypeError as error:
        raise HandlerError(
            f"{consumer.name}: the request of the effect “{declared.name}” cannot be JSON: {error}."
        ) from error
