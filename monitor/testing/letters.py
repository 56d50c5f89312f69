"""Makes deliveries for tests: with all that is named, or read as a configured source reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from monitor import conf
from monitor.domain.errors import ConfigurationError
from monitor.domain.message import Delivery
from monitor.domain.source import HttpSource
from monitor.sources import cloudevents, github, plain_json
from monitor.sources.envelope import Envelope


def letter(source: str, body: Any, *, key: str | None = None, **more: Any) -> Delivery:
    """One delivery. body: bytes as they are, text in UTF-8, anything else as JSON.

    With a key, it is made of what is named: type, session, sequence, origin, content_type, headers,
    correlation_id, traceparent, redelivered. Without one, the source's settings find key, type,
    session and sequence, as they would in a request with these headers; what is named wins.
    Raises ConfigurationError for a source that cannot do so, and what the source itself raises.
    """
    payload = _bytes(body)
    if key is not None:
        return Delivery(
            **{"source": source, "origin": source, "key": key, "payload": payload, **more}
        )
    headers = {name.lower(): value for name, value in more.pop("headers", {}).items()}
    found = _read(_http(source), payload, headers, more.pop("content_type", "application/json"))
    values = {name: getattr(found, name) for name in Delivery.__dataclass_fields__}
    return Delivery(**{**values, **more})


def _bytes(body: Any) -> bytes:
    if isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else orjson.dumps(body)


def _http(name: str) -> HttpSource:
    source = conf.get().http(name)
    if source is None:
        raise ConfigurationError(
            f"“{name}” is no configured HTTP source, so its settings cannot find a key: name key=."
        )
    return source


def _read(
    source: HttpSource, payload: bytes, headers: Mapping[str, str], content_type: str
) -> Delivery:
    envelope = Envelope(source=source, headers=headers, body=payload, content_type=content_type)
    if source.format == "github":
        return github.read(envelope)
    if source.format != "cloudevents":
        return plain_json.read(envelope)
    first = cloudevents.read(envelope)[0]
    if isinstance(first, Delivery):
        return first
    raise first
