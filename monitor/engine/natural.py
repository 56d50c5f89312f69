"""Natural consumers: each message carries its session's whole state; an older one is absorbed.

The version is stored with the handler's effects, in one transaction, so that it is never ahead.
Source: C. Richardson, "Idempotent Consumer", microservices.io; the version is optimistic locking.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from monitor.domain.consumer import Consumer
from monitor.domain.errors import RejectedDeliveryError
from monitor.domain.fingerprint import is_json, parse_json
from monitor.domain.places import Found, Place
from monitor.engine.handler import InvalidPayloadError, Ran
from monitor.store import naturals
from monitor.store.queue import Body
from monitor.store.sql import Cursor

ABSORBED = Ran('{"absorbed": "an older version of the state"}', 0.0)
_LARGEST = 2**63 - 1


def is_older(cursor: Cursor, consumer: Consumer, body: Body) -> bool:
    """Whether a newer state of the session is stored already; else this version is, from now on.

    Wants the transaction of the effects and the lane. Always False for other consumers. Raises
    InvalidPayloadError when the version is neither a whole number nor a time with its zone.
    """
    if consumer.version is None or not body.session_key:
        return False
    return not naturals.advance(cursor, body.session, version_of(consumer.version, body))


def version_of(path: str, body: Body) -> int:
    """The version in the body as a number; a time counts in microseconds since 1970."""
    if not is_json(body.content_type):
        raise InvalidPayloadError(f"The body is “{body.content_type}”: it has no version.")
    try:
        value = _place(path).look(Found(body=parse_json(body.payload)))
    except RejectedDeliveryError as error:
        raise InvalidPayloadError(str(error)) from error
    number = _number(value)
    if number is None or abs(number) > _LARGEST:
        raise InvalidPayloadError(
            f"The version at “{path}” must be a whole number or a time with its zone."
        )
    return number


def _number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _microseconds(value)
    if isinstance(value, int | float | Decimal) and value == value // 1:
        return int(value)
    return None


def _microseconds(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


_place = lru_cache(maxsize=256)(Place.parse)
