"""What the handlers left in their tables, in the words of the plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from examples.github.models import TimelineEntry, TriageStep
from examples.payments.models import LedgerEntry, Notice, Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One row that a handler wrote."""

    consumer: str
    key: str
    text: str


def of_keys(keys: Sequence[str]) -> list[Effect]:
    """Every effect of these messages; those of one consumer in the order in which it wrote them."""
    wanted = {"message_key__in": keys}
    return [
        *_bookings(LedgerEntry.objects.filter(**wanted).order_by("id")),
        *_notices(Notice.objects.filter(**wanted).order_by("id")),
        *_receipts(Receipt.objects.filter(**wanted).order_by("id")),
        *_timelines(TimelineEntry.objects.filter(**wanted).order_by("id")),
        *_triage(TriageStep.objects.filter(**wanted).order_by("id")),
    ]


def _bookings(rows: Iterable[LedgerEntry]) -> Iterator[Effect]:
    for row in rows:
        yield Effect(
            consumer="payments.payout" if row.amount_cents < 0 else "payments.apply",
            key=row.message_key,
            text=f"{row.account_id} {row.sequence}: {row.amount_cents}",
        )


def _notices(rows: Iterable[Notice]) -> Iterator[Effect]:
    for row in rows:
        yield Effect(
            consumer="payments.notify",
            key=row.message_key,
            text=f"{row.account} {row.sequence}: told",
        )


def _receipts(rows: Iterable[Receipt]) -> Iterator[Effect]:
    for row in rows:
        yield Effect(
            consumer="payments.charge",
            key=row.message_key,
            text=f"{row.account} {row.sequence}: charged {row.amount_cents}",
        )


def _timelines(rows: Iterable[TimelineEntry]) -> Iterator[Effect]:
    for row in rows:
        action = f"{row.event} {row.action}".strip()
        yield Effect(consumer=row.consumer, key=row.message_key, text=f"{row.timeline}: {action}")


def _triage(rows: Iterable[TriageStep]) -> Iterator[Effect]:
    for row in rows:
        yield Effect(consumer="github.triage", key=row.message_key, text=row.item)
