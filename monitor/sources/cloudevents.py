"""CloudEvents 1.0 over HTTP: binary, structured and in batches; origin is the event's source."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from json.decoder import WHITESPACE, JSONDecoder, scanstring  # type: ignore[attr-defined]
from typing import Any
from urllib.parse import unquote_to_bytes

import orjson

from monitor.domain.errors import RejectedDeliveryError
from monitor.domain.fingerprint import is_json, parse_json
from monitor.domain.message import Delivery
from monitor.sources.envelope import Envelope, Identity, check_json, deliver
from monitor.sources.refusal import Reason, Refusal

STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"

_PREFIX = "ce-"
_DEFAULT_TYPE = "application/json"
_REQUIRED = ("id", "source", "type", "specversion")
_NAME = re.compile(r"[a-z0-9]{1,64}")
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_NOTHING = b"null"  # an event without data is JSON's null to its handler

Item = Delivery | RejectedDeliveryError


def read(envelope: Envelope) -> list[Item]:
    """The events of a request: one, or those of a batch with the reason of each wrong one.

    Refusal 415 when it is no CloudEvent in JSON or in binary mode. RejectedDeliveryError names the
    attribute at fault in a single event.
    """
    if envelope.media_type == STRUCTURED:
        check_json(envelope)
        return [_structured(envelope, envelope.body)]
    if envelope.media_type == BATCH:
        check_json(envelope)
        return [_item(envelope, text) for text in _elements(envelope)]
    if envelope.media_type.startswith("application/cloudevents"):
        raise Refusal(Reason.MEDIA_TYPE, f"Content-Type: CloudEvents are read as {STRUCTURED}.")
    if not any(name.startswith(_PREFIX) for name in envelope.headers):
        raise Refusal(
            Reason.MEDIA_TYPE, f"Neither Content-Type: {STRUCTURED} nor ce- headers are there."
        )
    return [_binary(envelope)]


def is_batch(envelope: Envelope) -> bool:
    """Whether the sender expects an answer per event."""
    return envelope.media_type == BATCH


def _item(envelope: Envelope, text: bytes) -> Item:
    try:
        return _structured(envelope, text)
    except RejectedDeliveryError as error:
        return error


def _binary(envelope: Envelope) -> Delivery:
    attributes = {
        name.removeprefix(_PREFIX): _decoded(name, value)
        for name, value in envelope.headers.items()
        if name.startswith(_PREFIX)
    }
    content_type = envelope.content_type or _DEFAULT_TYPE
    # Headers are not signed, so a replay guard names the event; inside a body the id is signed.
    return _event(envelope, attributes, envelope.body, content_type, key=envelope.key)


def _decoded(name: str, value: str) -> str:
    """A header value as the HTTP binding writes it: percent-encoded UTF-8, perhaps quoted."""
    text = value.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = re.sub(r"\\(.)", r"\1", text[1:-1])
    if not text.isascii():
        raise RejectedDeliveryError(f"{name}: characters beyond ASCII must be percent-encoded.")
    if _PERCENT.search(text):
        raise RejectedDeliveryError(f"{name}: “%” is not followed by two hex digits.")
    if "," in text and name.removeprefix(_PREFIX) in _REQUIRED:
        # Two headers of one name arrive joined by a comma: which one is meant, nobody can tell.
        raise RejectedDeliveryError(f"{name}: it stands there twice, or write its comma as %2C.")
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError as error:
        raise RejectedDeliveryError(f"{name}: the percent-encoding is not UTF-8.") from error


def _structured(envelope: Envelope, text: bytes) -> Delivery:
    event = parse_json(text, envelope.source.max_depth)
    if not isinstance(event, dict):
        raise RejectedDeliveryError("A CloudEvent is a JSON object.")
    attributes = {
        name: _attribute(name, value)
        for name, value in event.items()
        if name not in ("data", "data_base64") and value is not None
    }
    content_type = attributes.get("datacontenttype") or _DEFAULT_TYPE
    return _event(envelope, attributes, _data(event, text, content_type), content_type)


def _attribute(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    raise RejectedDeliveryError(f"{name[:64]}: an attribute is text, a whole number or a boolean.")


def _data(event: dict[str, Any], text: bytes, content_type: str) -> bytes:
    """The data byte for byte as the sender wrote it, so that no number loses a digit."""
    if "data_base64" in event:
        if "data" in event:
            raise RejectedDeliveryError("data and data_base64 exclude each other.")
        return _base64(event["data_base64"])
    if "data" not in event:
        return b""
    if isinstance(event["data"], str) and not is_json(content_type):
        return event["data"].encode()
    return _members(text.decode())["data"]


def _base64(value: object) -> bytes:
    try:
        if not isinstance(value, str):
            raise ValueError
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RejectedDeliveryError("data_base64: it is not base64.") from error


def _event(
    envelope: Envelope,
    attributes: Mapping[str, str],
    payload: bytes,
    content_type: str,
    *,
    key: str = "",
) -> Delivery:
    for name in _REQUIRED:
        if not attributes.get(name):
            raise RejectedDeliveryError(f"{name}: the attribute is missing or empty.")
    for name in attributes:
        if not _NAME.fullmatch(name):
            raise RejectedDeliveryError(f"{name[:64]}: attribute names are of a-z and 0-9.")
    if attributes["specversion"] != "1.0":
        raise RejectedDeliveryError("specversion: only 1.0 is read.")
    if not payload and is_json(content_type):
        payload = _without_data(attributes)
    body = parse_json(payload, envelope.source.max_depth) if is_json(content_type) else None
    identity = Identity(
        key=key or attributes["id"],
        origin=attributes["source"],
        type=attributes["type"],
        attributes=attributes,
    )
    return deliver(envelope, identity, payload, content_type=content_type, body=body)


def _without_data(attributes: Mapping[str, str]) -> bytes:
    # A claim check: what the handler needs is where the data lies, and another place for the same
    # id must count as another payload.
    if "dataref" in attributes:
        return orjson.dumps({"dataref": attributes["dataref"]})
    return _NOTHING


_decoder = JSONDecoder()


def _elements(envelope: Envelope) -> list[bytes]:
    """The text of each element of a JSON array. Raises RejectedDeliveryError for anything else."""
    if not isinstance(parse_json(envelope.body, envelope.source.max_depth), list):
        raise RejectedDeliveryError("A batch of CloudEvents is a JSON array.")
    text = envelope.body.decode()
    elements, at = [], _skip(text, text.index("[") + 1)
    while text[at] != "]":
        end = _value_end(text, at)
        elements.append(text[at:end].encode())
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return elements


def _members(text: str) -> dict[str, bytes]:
    """The text of each member of a JSON object that was parsed before, so it is known to be one."""
    members, at = {}, _skip(text, text.index("{") + 1)
    while text[at] != "}":
        name, end = scanstring(text, at + 1, True)
        start = _skip(text, _skip(text, end) + 1)
        at = _value_end(text, start)
        members[name] = text[start:at].encode()
        at = _skip(text, at)
        at = _skip(text, at + 1) if text[at] == "," else at
    return members


def _value_end(text: str, start: int) -> int:
    return _decoder.raw_decode(text, start)[1]


def _skip(text: str, at: int) -> int:
    match = WHITESPACE.match(text, at)
    return at if match is None else match.end()
