"""What a request brings besides its body, as the formats read it: names in lower case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from monitor import conf
from monitor.domain import keys, times
from monitor.domain.message import Delivery
from monitor.domain.places import Found, Place, sequence_at, text_at
from monitor.domain.source import DAY_SECONDS, HttpSource
from monitor.sources.refusal import Reason, Refusal

CONTENT_TYPE_CHARACTERS = 200
_HEADERS, _VALUE_CHARACTERS = 64, 1024
_CONTEXT_CHARACTERS = 256

_KEPT = frozenset({
    "content-type", "user-agent", "date", "traceparent", "tracestate", "x-request-id",
    "x-correlation-id", "webhook-id", "webhook-timestamp", "idempotency-key",
})  # fmt: skip
_KEPT_PREFIXES = ("ce-", "x-github-")
_NEVER = re.compile(r"auth|cookie|signature|token|secret|password|credential|api-?key")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """A request whose sender is known. body is decompressed; key is set by a replay guard."""

    source: HttpSource
    headers: Mapping[str, str]
    body: bytes
    content_type: str
    key: str = ""
    secret: str = ""  # the variable of the secret that matched

    @property
    def media_type(self) -> str:
        """The content type without its parameters."""
        return self.content_type.partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a format itself says of a delivery; "" and None leave it to the source's places."""

    key: str
    origin: str = ""
    type: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


def deliver(
    envelope: Envelope, identity: Identity, payload: bytes, *, content_type: str, body: Any
) -> Delivery:
    """The delivery of one message, checked. Raises RejectedDeliveryError naming the rule."""
    source, headers = envelope.source, envelope.headers
    found = Found(body=body, headers=headers, attributes=identity.attributes)
    delivery = Delivery(
        source=source.name,
        origin=identity.origin or source.origin or source.name,
        key=identity.key,
        payload=payload,
        type=identity.type or _text(source.type, found),
        session=_text(source.session, found),
        sequence=None
        if source.sequence is None
        else sequence_at(Place.parse(source.sequence), found),
        is_last=source.last is not None and times.is_last(Place.parse(source.last), found),
        not_before=None
        if source.not_before is None
        else times.not_before(Place.parse(source.not_before), found),
        sent_at=_sent_at(source, found),
        window_seconds=conf.get().retention.dedup_days * DAY_SECONDS,
        old_is_dead=source.too_old == "dead",
        content_type=content_type,
        headers=_kept(envelope, identity.attributes),
        correlation_id=_context(
            identity.attributes.get("correlationid") or headers.get("x-correlation-id")
        ),
        traceparent=_context(identity.attributes.get("traceparent") or headers.get("traceparent")),
    )
    keys.check_key(delivery.key)
    keys.check_origin(delivery.origin)
    keys.check_type(delivery.type)
    keys.check_session(delivery.session)
    return delivery


def needed_header(envelope: Envelope, name: str) -> str:
    """The value of a header that says who a message is. Refusal 400 when it is missing or double.

    Two headers of one name arrive joined by a comma; such a value has no one meaning.
    """
    value = envelope.headers.get(name.lower(), "").strip()
    if not value:
        raise Refusal(Reason.NO_KEY, f"The header {name} is missing or empty.")
    if "," in value:
        raise Refusal(Reason.MALFORMED, f"The header {name} stands there twice, or holds a comma.")
    return value


def _text(place: str | None, found: Found) -> str:
    return "" if place is None else text_at(Place.parse(place), found)


def _sent_at(source: HttpSource, found: Found) -> datetime | None:
    """Where the settings say, else the time of a CloudEvent; an odd one stays text in headers."""
    if source.sent_at is not None:
        return times.sent_at(Place.parse(source.sent_at), found)
    return times.sending_time(found.attributes.get("time"))


def _kept(envelope: Envelope, attributes: Mapping[str, str]) -> dict[str, str]:
    source = envelope.source
    named = {
        text.partition(":")[2].lower()
        for text in (*source.keys(), *source.other_places().values())
        if text.startswith("header:")
    }
    kept = {
        name: value
        for name, value in envelope.headers.items()
        if (name in _KEPT or name in named or name.startswith(_KEPT_PREFIXES))
        and not _NEVER.search(name)
    }
    kept.update({f"ce-{name}": value for name, value in attributes.items()})
    if envelope.secret:
        kept["comboio-secret"] = envelope.secret
    return {
        name[:_VALUE_CHARACTERS]: _CONTROL.sub("\ufffd", value)[:_VALUE_CHARACTERS]
        for name, value in sorted(kept.items())[:_HEADERS]
    }


def _context(value: str | None) -> str | None:
    # Only for people and traces: an odd one is dropped, it does not refuse the message.
    if not value or len(value) > _CONTEXT_CHARACTERS or _CONTROL.search(value):
        return None
    return value


def check_json(envelope: Envelope) -> None:
    """Refusal 415 unless the body is announced as JSON in UTF-8; nothing announced is JSON."""
    media_type = envelope.media_type
    if media_type and not media_type.endswith(("/json", "+json")):
        raise Refusal(
            Reason.MEDIA_TYPE, f"Content-Type: application/json is needed, not {media_type}."
        )
    charset = re.search(r"charset\s*=\s*\"?([^\s;\"]*)", envelope.content_type, re.IGNORECASE)
    if charset and charset.group(1).lower() not in ("utf-8", "utf8", "us-ascii"):
        raise Refusal(Reason.MEDIA_TYPE, "Content-Type: JSON is read as UTF-8 only.")
