"""Routes again what nobody took when it came in: consumers may exist now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from django.utils.translation import gettext as _

from monitor.domain.actor import Actor
from monitor.domain.message import Delivery, Receipt
from monitor.domain.states import Verdict
from monitor.engine import ingest, registry
from monitor.operations.requeueing import leave
from monitor.operations.transaction import record_many
from monitor.store import discarded, events, requeues
from monitor.store.requeues import Dead


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """What became of each: notes of those that went on, refusals of those that stay dead.

    In neither: no longer dead as seen.
    """

    notes: dict[int, str]
    refusals: dict[int, str]


def route(cursor: psycopg.Cursor[Any], actor: Actor, seen: Sequence[Dead]) -> Routed:
    """Give stored deliveries to the consumers that take them now; the old rows become discarded.

    The caller holds the lanes. Ingest takes dedup and alert rows after them, as for any delivery.
    """
    found = requeues.deliveries(cursor, seen)
    taken = {id_: each for id_, each in found.items() if registry.takers(each.source, each.type)}
    notes: dict[int, str] = {}
    refusals = {id_: _nobody(each) for id_, each in found.items() if id_ not in taken}
    receipts = ingest.accept(cursor, list(taken.values())) if taken else []
    for id_, answers in zip(taken, receipts, strict=True):
        refused = next((each for each in answers if each.verdict is Verdict.REFUSED), None)
        if refused is None:
            notes[id_] = ", ".join(_told(each) for each in answers)
        else:
            refusals[id_] = refused.reason
    _put_away(cursor, actor, [each for each in seen if each.id in notes], notes)
    return Routed(notes=notes, refusals=refusals)


def _put_away(
    cursor: psycopg.Cursor[Any], actor: Actor, gone: Sequence[Dead], notes: dict[int, str]
) -> None:
    if not gone:
        return
    ids = discarded.discard(cursor, gone, notes, actor=actor.name)
    leave(cursor, gone)
    details = {id_: {"note": notes[id_]} for id_ in ids}
    events.write_many(cursor, "requeue", details, actor=actor.name)
    record_many(cursor, actor, "requeue", ids)


def _nobody(delivery: Delivery) -> str:
    return _("no consumer takes the type “%(type)s” of source “%(source)s”.") % {
        "type": delivery.type,
        "source": delivery.source,
    }


def _told(receipt: Receipt) -> str:
    facts = {"consumer": receipt.consumer, "id": receipt.message_id}
    if receipt.verdict is Verdict.NEW:
        return _("routed to %(consumer)s as message %(id)d") % facts
    if receipt.verdict is Verdict.DUPLICATE:
        return _("%(consumer)s knows it already as message %(id)d") % facts
    return _("%(consumer)s knows another payload under its key, message %(id)d") % facts
