"""What one AMQP message becomes: a delivery with its identity, or a malformed one and why."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from monitor import conf
from monitor.domain import keys, times
from monitor.domain.errors import RejectedDeliveryError
from monitor.domain.fingerprint import is_json, parse_json
from monitor.domain.message import Delivery
from monitor.domain.places import Found, Place, sequence_at, text_at
from monitor.domain.settings import AmqpSource
from monitor.domain.source import DAY_SECONDS
from monitor.sources import base

_HEADERS, _HEADER_CHARACTERS, _HEADERS_BYTES = 64, 1024, 16 * 1024
_CORRELATION_CHARACTERS = 256
_DEFAULT_TYPE = "application/json"
_CLOUD_EVENTS = ("cloudevents:", "cloudevents_")
# pika, celery and others put the charset into content_encoding: no compression.
_PLAIN = frozenset({"", "identity", "binary", "utf-8", "utf8", "us-ascii", "8bit", "7bit"})
_WINDOW = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
Read = TypeVar("Read")
_MESSAGE_ID, _TYPE = Place.parse("property:message_id"), Place.parse("property:type")


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One AMQP message as the broker handed it over. unreadable: what the client could not read."""

    body: bytes
    properties: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[Any, Any] = field(default_factory=dict)
    routing_key: str = ""
    exchange: str = ""
    redelivered: bool = False
    unreadable: str = ""


class Mapper:
    """Reads letters by the settings of one source."""

    def __init__(self, settings: AmqpSource) -> None:
        self._settings = settings
        self._origin = settings.origin or settings.name
        self._key = Place.parse(settings.key) if settings.key else None
        self._places = {name: Place.parse(text) for name, text in settings.other_places().items()}
        places = [*self._places.values(), *([self._key] if self._key else [])]
        self._reads_body = any(each.kind == "body" for each in places)

    def deliver(self, letter: Letter) -> Delivery:
        """The delivery of a message; malformed, with the reason, when it breaks a rule."""
        blank = self._blank(letter)
        try:
            return self._read(letter, blank)
        except RejectedDeliveryError as error:
            return base.set_aside(blank, str(error))

    def _blank(self, letter: Letter) -> Delivery:
        found = letter.properties
        return Delivery(
            source=self._settings.name,
            origin=self._origin,
            key=base.body_key(letter.body),
            payload=letter.body,
            content_type=_short(found.get("content_type")) or _DEFAULT_TYPE,
            headers=texts(letter),
            correlation_id=_short(found.get("correlation_id")),
            traceparent=_short(_named(letter.headers).get("traceparent")),
            redelivered=letter.redelivered,
        )

    def _read(self, letter: Letter, blank: Delivery) -> Delivery:
        if letter.unreadable:
            raise RejectedDeliveryError(letter.unreadable)
        payload = decoded(letter, self._settings.body_limit_bytes)
        found = Found(
            body=self._parsed(payload, blank.content_type),
            headers=_named(letter.headers),
            properties={**letter.properties, "routing_key": letter.routing_key},
        )
        event = cloud_event(found.headers)
        delivery = replace(
            blank,
            payload=payload,
            origin=event.get("source") or self._origin,
            key=self._key_of(found, event, payload),
            type=self._type_of(found, event),
            session=self._at("session", text_at, found) or "",
            sequence=self._at("sequence", sequence_at, found),
            is_last=self._at("last", times.is_last, found) or False,
            not_before=self._at("not_before", times.not_before, found),
            sent_at=self._at("sent_at", times.sent_at, found)
            if "sent_at" in self._places
            else times.sending_time(event.get("time")),
            window_seconds=conf.get().retention.dedup_days * DAY_SECONDS,
            old_is_dead=self._settings.too_old == "dead",
        )
        keys.check_key(delivery.key)
        keys.check_origin(delivery.origin)
        keys.check_session(delivery.session)
        keys.check_type(delivery.type)
        return delivery

    def _at(self, setting: str, read: Callable[[Place, Found], Read], found: Found) -> Read | None:
        """What stands at the place of a setting; None when none is configured."""
        place = self._places.get(setting)
        return None if place is None else read(place, found)

    def _parsed(self, payload: bytes, content_type: str) -> Any:
        if is_json(content_type) or self._reads_body:
            return parse_json(payload, self._settings.max_depth)
        return None

    def _key_of(self, found: Found, event: Mapping[str, str], payload: bytes) -> str:
        """The configured place, the CloudEvent's id or the message id; by policy the body."""
        place = self._key or _MESSAGE_ID
        key = event["id"] if event and self._key is None else text_at(place, found)
        if key:
            return key
        if self._settings.missing_key == "derive":
            return base.body_key(payload)
        raise RejectedDeliveryError(
            f"The message has no key at “{place.text}”: nothing would tell a copy from a new one."
        )

    def _type_of(self, found: Found, event: Mapping[str, str]) -> str:
        place = self._places.get("type")
        if event and place is None:
            return event["type"]
        return text_at(place or _TYPE, found)


def decoded(letter: Letter, limit_bytes: int) -> bytes:
    """The body without its compression. RejectedDeliveryError when too large or unreadable."""
    encoding = str(letter.properties.get("content_encoding") or "").strip().lower()
    if encoding in _PLAIN:
        _check_size(letter.body, limit_bytes)
        return letter.body
    if encoding not in _WINDOW:
        raise RejectedDeliveryError(f"The content encoding {encoding[:40]!r} is not known here.")
    unpacker = zlib.decompressobj(_WINDOW[encoding])
    try:
        # One byte more than allowed is enough to know; a bomb is never unpacked whole.
        payload = unpacker.decompress(letter.body, limit_bytes + 1)
    except zlib.error as error:
        raise RejectedDeliveryError(f"The body is not {encoding}: {error}.") from error
    _check_size(payload, limit_bytes)
    if not unpacker.eof or unpacker.unused_data:
        raise RejectedDeliveryError(f"The body is not one whole {encoding} stream.")
    return payload


def cloud_event(headers: Mapping[str, Any]) -> dict[str, str]:
    """The attributes of a CloudEvent in binary mode, by name; empty when it is none.

    Raises RejectedDeliveryError naming the first required attribute that is missing.
    """
    found = {
        name[len(prefix) :]: str(value)
        for prefix in _CLOUD_EVENTS
        for name, value in headers.items()
        if name.startswith(prefix) and isinstance(value, str | int)
    }
    if not {"id", "source", "specversion"} & found.keys():
        return {}
    for name in ("id", "source", "type"):
        if not found.get(name):
            raise RejectedDeliveryError(f"The CloudEvents attribute “{name}” is missing.")
    return found


def texts(letter: Letter) -> dict[str, str]:
    """Headers and properties for people: text only, without control characters, bounded."""
    named = [
        *((f"property:{name}", value) for name, value in letter.properties.items()),
        ("exchange", letter.exchange),
        ("routing_key", letter.routing_key),
        *letter.headers.items(),
    ]
    found: dict[str, str] = {}
    room = _HEADERS_BYTES
    for name, value in named[:_HEADERS]:
        if value in (None, ""):
            continue
        shown, text = clean(name, 128), clean(value, _HEADER_CHARACTERS)
        room -= len(shown.encode()) + len(text.encode())
        if room < 0:
            break
        found[shown] = text
    return found


def clean(value: Any, limit: int) -> str:
    """Any value as text that a database can hold, at most limit characters."""
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    text = text[:limit].encode("utf-8", "backslashreplace").decode()
    return _CONTROL.sub(lambda each: f"\\x{ord(each.group()):02x}", text)[:limit]


def _named(headers: Mapping[Any, Any]) -> dict[str, Any]:
    """Headers by lower-case name, as places look them up; bytes that are UTF-8 count as text."""
    return {name.lower(): _text(value) for name, value in headers.items() if isinstance(name, str)}


def _text(value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _check_size(body: bytes, limit_bytes: int) -> None:
    if len(body) > limit_bytes:
        raise RejectedDeliveryError(f"The body is larger than {limit_bytes} bytes.")


def _short(value: Any) -> str | None:
    return clean(value, _CORRELATION_CHARACTERS) if value not in (None, "") else None
