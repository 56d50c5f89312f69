"""Plain JSON: the key, and all else, stands where the source's settings say."""

from __future__ import annotations

import orjson

from monitor.domain import keys
from monitor.domain.fingerprint import parse_json
from monitor.domain.message import Delivery
from monitor.domain.places import Found, Place, text_at
from monitor.domain.source import HttpSource
from monitor.sources import base
from monitor.sources.envelope import Envelope, Identity, check_json, deliver
from monitor.sources.refusal import Reason, Refusal

_WEBHOOK_ID = "header:webhook-id"


def read(envelope: Envelope) -> Delivery:
    """The delivery of a JSON body.

    Refusal 415 for another media type, 400 no_key by the source's policy; RejectedDeliveryError for
    a body or a value that breaks a rule.
    """
    check_json(envelope)
    body = parse_json(envelope.body, envelope.source.max_depth)
    found = Found(body=body, headers=envelope.headers)
    key = envelope.key or _key(envelope.source, found) or _derived(envelope)
    return deliver(
        envelope,
        Identity(key=key),
        envelope.body,
        content_type=envelope.content_type or "application/json",
        body=body,
    )


def _key(source: HttpSource, found: Found) -> str:
    places = source.keys() or _default(source)
    parts = [text_at(Place.parse(text), found) for text in places]
    if len(parts) <= 1:
        return parts[0] if parts else ""
    # Half a key is never completed by a constant: it would be one key for many messages.
    missing = [text for text, part in zip(places, parts, strict=True) if not part]
    if missing:
        raise Refusal(Reason.NO_KEY, f"A part of the key is missing: {', '.join(missing)}.")
    for part in parts:
        keys.check_key(part)
    return orjson.dumps(parts).decode()  # ["a","b,c"] and ["a,b","c"] stay apart


def _default(source: HttpSource) -> tuple[str, ...]:
    has_signed_id = source.auth is not None and source.auth.signs_the_key
    return (_WEBHOOK_ID,) if has_signed_id else ()


def _derived(envelope: Envelope) -> str:
    source = envelope.source
    if source.missing_key == "derive":
        return base.body_key(envelope.body)
    named = ", ".join(source.keys()) or _WEBHOOK_ID
    raise Refusal(Reason.NO_KEY, f"The key is missing or empty: {named}.")
