"""Deliveries in, receipts out: new, duplicate, mismatch or refused, decided by one insert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import psycopg
from django.db import transaction

from monitor.domain import keys
from monitor.domain.consumer import NO_CONSUMER
from monitor.domain.errors import RejectedDeliveryError
from monitor.domain.message import Delivery, Receipt
from monitor.domain.states import AlertKind, Cause, DeadReason, State, Verdict
from monitor.engine import directory, ordering, route
from monitor.store import alerts, connections, inbox, planning, rollup

Receipts = list[list[Receipt]]
_COMMIT_SECONDS = 28.0  # longer than any statement may take; then the answer will never come


@dataclass(slots=True)
class _Entry:
    """A row of the batch and the deliveries that it answers: equal copies share one row."""

    consumer: str
    row: inbox.Row
    places: list[int]


@dataclass(slots=True)
class _Aftermath:
    """What is written once, after all rows: alerts are locked last and in one order."""

    alerts: list[alerts.Alert]
    counts: list[rollup.Delta]


def receive(deliveries: Sequence[Delivery], *, ignore_unrouted: bool = False) -> Receipts:
    """Accept deliveries on Django's connection, in a transaction of their own, and commit.

    When it returns, what is new is durable. A database error propagates: nothing was accepted, or
    the commit is unknown and the next delivery of the same message will tell.
    """
    cursor = connections.shared_cursor()
    with (
        connections.deadline(cursor.connection, _COMMIT_SECONDS),
        transaction.atomic(durable=True),
    ):
        return accept(cursor, deliveries, ignore_unrouted=ignore_unrouted)


def accept(
    cursor: psycopg.Cursor[Any], deliveries: Sequence[Delivery], *, ignore_unrouted: bool = False
) -> Receipts:
    """Judge deliveries and store the new ones: for each, one receipt per consumer that takes it.

    Wants a transaction at READ COMMITTED and commits nothing. What nobody takes, or cannot be
    read, becomes a dead letter of no consumer; with ignore_unrouted it is only counted, no receipt.
    What breaks a rule of keys or sessions is refused in its receipt. Workers wake at commit.
    """
    planning.by_index(cursor)
    receipts: Receipts = [[] for _ in deliveries]
    pending = _entries(deliveries, directory.ids(cursor), receipts)
    if ignore_unrouted:
        pending = _without_unrouted(cursor, pending)
    aftermath = _Aftermath([], [])
    while pending:
        batch, pending = _fold(pending)
        _judge(cursor, batch, receipts, aftermath)
    rollup.add(cursor, aftermath.counts)
    alerts.raise_many(cursor, aftermath.alerts)
    return receipts


def _entries(
    deliveries: Sequence[Delivery], ids: dict[str, int], receipts: Receipts
) -> list[_Entry]:
    entries: list[_Entry] = []
    for place, delivery in enumerate(deliveries):
        try:
            rows = route.rows(delivery, ids)
        except RejectedDeliveryError as error:
            receipts[place].append(Receipt(verdict=Verdict.REFUSED, consumer="", reason=str(error)))
        else:
            entries += [_Entry(consumer, row, [place]) for consumer, row in rows]
    return entries


def _without_unrouted(cursor: psycopg.Cursor[Any], entries: list[_Entry]) -> list[_Entry]:
    ignored = [e for e in entries if e.row.dead_reason == DeadReason.NO_HANDLER]
    if ignored:
        source = ignored[0].row.delivery.source
        rollup.add(cursor, [(NO_CONSUMER, "ignored", source, float(len(ignored)))])
    return [entry for entry in entries if entry.row.dead_reason != DeadReason.NO_HANDLER]


def _fold(entries: list[_Entry]) -> tuple[list[_Entry], list[_Entry]]:
    """One entry per key: equal copies join the first, different ones wait for the next round."""
    first: dict[Any, _Entry] = {}
    later: list[_Entry] = []
    for entry in entries:
        known = first.setdefault((entry.row.consumer_id, entry.row.dedup_key), entry)
        if known is entry:
            continue
        if known.row.fingerprint == entry.row.fingerprint:
            known.row = replace(known.row, repeats=known.row.repeats + 1)
            known.places += entry.places
        else:
            later.append(entry)
    return list(first.values()), later


def _judge(
    cursor: psycopg.Cursor[Any], batch: list[_Entry], receipts: Receipts, aftermath: _Aftermath
) -> None:
    rows = [entry.row for entry in batch]
    for judgement in ordering.keep(cursor, rows, inbox.accept(cursor, rows)):
        entry = batch[judgement.place]
        if judgement.is_same:
            _answer(entry, judgement, receipts)
        else:
            receipt = _mismatch(cursor, entry, judgement, aftermath)
            for place in entry.places:
                receipts[place].append(receipt)
        if judgement.dead_reason:
            aftermath.alerts.append(_dead_alert(entry.row, judgement))
            aftermath.counts.append((entry.row.consumer_id, "dead", judgement.dead_reason, 1))


def _answer(entry: _Entry, judgement: inbox.Judgement, receipts: Receipts) -> None:
    """Receipts of an entry that is new or equal to its first; only one of equal copies is new."""
    for nth, place in enumerate(entry.places):
        is_new = judgement.is_new and nth == 0
        receipts[place].append(
            Receipt(
                verdict=Verdict.NEW if is_new else Verdict.DUPLICATE,
                consumer=entry.consumer,
                message_id=judgement.message_id,
                first_seen=judgement.seen_at,
                state=None if is_new or judgement.state is None else State(judgement.state),
                cause=None if is_new or judgement.cause is None else Cause(judgement.cause),
            )
        )


def _mismatch(
    cursor: psycopg.Cursor[Any],
    entry: _Entry,
    judgement: inbox.Judgement,
    aftermath: _Aftermath,
) -> Receipt:
    """Set the other payload aside; one that was accepted as second makes a duplicate."""
    row, consumer_id = entry.row, entry.row.consumer_id
    record = inbox.record_mismatch(cursor, judgement.message_id, row)
    if record.accepted_id is not None:
        return _duplicate_of_second(cursor, entry, record.accepted_id, aftermath)
    aftermath.counts.append((consumer_id, "received", "mismatch", float(len(entry.places))))
    if record.verdict is None:
        aftermath.alerts.append(
            alerts.Alert(
                kind=AlertKind.MISMATCH,
                consumer=consumer_id,
                subject=str(judgement.message_id),
                title=f"Key “{row.delivery.key}” came again with another payload",
                target=record.id,
                cause=f"{row.delivery.source}: {row.delivery.type}",
            )
        )
    return Receipt(
        verdict=Verdict.MISMATCH,
        consumer=entry.consumer,
        message_id=judgement.message_id,
        first_seen=judgement.seen_at,
        state=None if judgement.state is None else State(judgement.state),
    )


def _duplicate_of_second(
    cursor: psycopg.Cursor[Any],
    entry: _Entry,
    accepted_id: int,
    aftermath: _Aftermath,
) -> Receipt:
    row = entry.row
    second_key = keys.dedup_key(
        row.delivery.origin, keys.second_key(row.delivery.key, row.fingerprint)
    )
    cause = Cause.REDELIVERED if row.delivery.redelivered else Cause.REPEATED
    seen_at = inbox.count_duplicate(cursor, row, second_key, cause)
    number = float(len(entry.places))
    aftermath.counts.append((row.consumer_id, "received", "duplicate", number))
    aftermath.counts.append((row.consumer_id, "duplicates", cause, number))
    return Receipt(
        verdict=Verdict.DUPLICATE,
        consumer=entry.consumer,
        message_id=accepted_id,
        first_seen=seen_at,
        cause=cause,
    )


def _dead_alert(row: inbox.Row, judgement: inbox.Judgement) -> alerts.Alert:
    return alerts.Alert(
        kind=AlertKind.DEAD_LETTER,
        consumer=row.consumer_id,
        subject=f"{judgement.dead_reason}: {row.delivery.source}",
        title=f"{judgement.dead_reason}: {judgement.dead_text}"[:300],
        target=judgement.message_id,
    )
