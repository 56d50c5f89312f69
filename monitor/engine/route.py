"""Which consumers take a delivery, and under which key and session each of them knows it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from monitor.domain import fingerprint, keys
from monitor.domain.consumer import NO_CONSUMER, Consumer
from monitor.domain.message import Delivery
from monitor.domain.order import Priority
from monitor.domain.places import Found, Place, text_at
from monitor.domain.states import DeadReason
from monitor.engine import registry
from monitor.store.inbox import Row

NO_CONSUMER_NAME = "(no consumer)"


def rows(delivery: Delivery, ids: Mapping[str, int]) -> list[tuple[str, Row]]:
    """One row per consumer that takes the delivery, with the consumer's name; never none.

    What cannot be read, or nobody takes, is one row of no consumer with a dead_reason. Raises
    RejectedDeliveryError when key, origin, session or type break a rule.
    """
    keys.check_key(delivery.key)
    keys.check_origin(delivery.origin)
    keys.check_session(delivery.session)
    keys.check_type(delivery.type)
    if delivery.malformed:
        return [_unrouted(delivery, DeadReason.MALFORMED, delivery.malformed)]
    takers = registry.takers(delivery.source, delivery.type)
    if not takers:
        text = f"No consumer takes the type “{delivery.type}” of the source “{delivery.source}”."
        return [_unrouted(delivery, DeadReason.NO_HANDLER, text)]
    digest = fingerprint.fingerprint(delivery.payload, delivery.content_type)
    found = _body(delivery) if any(each.session for each in takers) else Found(body=None)
    return [
        (each.name, _routed(delivery, digest, found, (each, ids[each.name]))) for each in takers
    ]


def _routed(delivery: Delivery, digest: bytes, found: Found, taker: tuple[Consumer, int]) -> Row:
    consumer, consumer_id = taker
    session = _session(delivery, found, consumer)
    unnumbered = _unnumbered(delivery, consumer, session)
    return Row(
        delivery=delivery,
        consumer_id=consumer_id,
        dedup_key=keys.dedup_key(delivery.origin, delivery.key),
        fingerprint=digest if consumer.fingerprint is None else _part(delivery, consumer),
        session_hash=_session_hash(consumer, consumer_id, session),
        session_key=session,
        is_numbered=consumer.numbered is not None,
        dead_reason=DeadReason.MALFORMED if unnumbered else "",
        dead_text=unnumbered,
    )


def _part(delivery: Delivery, consumer: Consumer) -> bytes:
    return fingerprint.fingerprint(delivery.payload, delivery.content_type, consumer.fingerprint)


def _session_hash(consumer: Consumer, consumer_id: int, session: str) -> int:
    if not session:
        return 0
    priority = None if consumer.priority is None else Priority(consumer.priority(session))
    return keys.session_id(consumer_id, session, priority=priority)


def _unnumbered(delivery: Delivery, consumer: Consumer, session: str) -> str:
    """Why a message without the number that its place follows from is set aside, or ""."""
    if consumer.numbered is None or not session or delivery.sequence is not None:
        return ""
    return f"{consumer.name} runs its sessions by number, and this message has no sequence number."


def _unrouted(delivery: Delivery, reason: DeadReason, text: str) -> tuple[str, Row]:
    row = Row(
        delivery=delivery,
        consumer_id=NO_CONSUMER,
        dedup_key=keys.dedup_key(delivery.origin, delivery.key),
        fingerprint=fingerprint.fingerprint(delivery.payload, delivery.content_type),
        session_hash=0,
        session_key="",
        dead_reason=reason,
        dead_text=text,
    )
    return NO_CONSUMER_NAME, row


def _body(delivery: Delivery) -> Found:
    return Found(body=fingerprint.parse_json(delivery.payload))


def _session(delivery: Delivery, found: Found, consumer: Consumer) -> str:
    if consumer.session is None:
        return delivery.session
    # The same rules as for a source's session: text or a whole number, a path that fits.
    session = text_at(_place(consumer.session), found)
    keys.check_session(session)
    return session


_place = lru_cache(maxsize=256)(Place.parse)
