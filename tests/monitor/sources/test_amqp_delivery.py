"""What an AMQP message becomes."""

from __future__ import annotations

import gzip
import json
import zlib
from datetime import datetime
from typing import Any

import pytest

from monitor.domain import keys
from monitor.domain.source import MEBIBYTE
from monitor.sources import amqp_delivery, base
from tests.monitor.sources.letters import deliver, letter

EVENT = {"cloudEvents:id": "e-1", "cloudEvents:source": "/shop", "cloudEvents:type": "paid"}


def test_a_plain_message_takes_key_and_type_from_its_properties() -> None:
    found = deliver(letter('{"a":1}', properties={"message_id": "m-7", "type": "paid"}))
    assert (found.key, found.type, found.origin, found.session) == ("m-7", "paid", "payments", "")
    assert found.payload == b'{"a":1}'
    assert found.content_type == "application/json"
    assert not found.malformed


def test_key_session_type_and_sequence_come_from_where_the_settings_say() -> None:
    found = deliver(
        letter('{"id":0,"n":{"seq":12}}', headers={"x-session": "acc-1"}, routing_key="paid"),
        key="id",
        session="header:x-session",
        type="property:routing_key",
        sequence="n.seq",
        origin="shop",
    )
    assert (found.key, found.session, found.type, found.sequence) == ("0", "acc-1", "paid", 12)
    assert found.origin == "shop"


@pytest.mark.parametrize("prefix", ["cloudEvents:", "cloudEvents_"])
def test_a_cloud_event_brings_its_own_identity(prefix: str) -> None:
    headers = {name.replace("cloudEvents:", prefix): value for name, value in EVENT.items()}
    found = deliver(letter(headers=headers))
    assert (found.key, found.origin, found.type) == ("e-1", "/shop", "paid")


@pytest.mark.parametrize("missing", ["id", "source", "type"])
def test_half_a_cloud_event_is_set_aside_naming_the_attribute(missing: str) -> None:
    headers = {**EVENT, "cloudEvents:specversion": "1.0"}
    del headers[f"cloudEvents:{missing}"]
    found = deliver(letter(headers=headers))
    assert f"“{missing}”" in found.malformed


@pytest.mark.parametrize("body", ["", "{", '{"v":NaN}', '{"s":"\\ud800"}', b"\xff", "[" * 200])
def test_a_body_that_is_no_json_is_set_aside_with_all_its_bytes(body: str | bytes) -> None:
    sent = letter(body)
    found = deliver(sent, session="account")
    assert found.malformed
    assert found.payload == sent.body
    assert found.key == base.body_key(sent.body)
    assert found.session == ""


def test_a_body_of_another_type_is_taken_as_it_is() -> None:
    properties = {"message_id": "m", "content_type": "text/csv"}
    found = deliver(letter(b"\xff;1", properties=properties))
    assert not found.malformed
    assert (found.content_type, found.payload) == ("text/csv", b"\xff;1")


@pytest.mark.parametrize("key", [None, ""])
def test_a_message_without_key_is_set_aside_or_keyed_by_its_body(key: str | None) -> None:
    sent = letter('{"a":1}', properties={"message_id": key})
    assert "no key" in deliver(sent, missing_key="reject").malformed
    derived = deliver(sent, missing_key="derive")
    assert derived.key == base.body_key(b'{"a":1}')
    assert not derived.malformed


@pytest.mark.parametrize(
    "value", [None, "", True, 1.5, [1], {"a": 1}, "a\x00b", "a\r\nb", "k" * 600]
)
def test_no_odd_key_ever_becomes_an_identity(value: Any) -> None:
    found = deliver(letter(json.dumps({"id": value})), key="id")
    assert found.malformed
    keys.check_key(found.key)


@pytest.mark.parametrize("value", ["s" * 300, "a\x01b", "\ud800"])
def test_a_session_that_breaks_a_rule_sets_the_message_aside(value: str) -> None:
    found = deliver(letter(headers={"x-session": value}), session="header:x-session")
    assert "session" in found.malformed
    assert found.session == ""


@pytest.mark.parametrize("value", [-1, 2**63, "x", 1.5, "1" * 500, "٣"])
def test_a_sequence_that_is_no_positive_number_sets_the_message_aside(value: Any) -> None:
    found = deliver(letter(headers={"n": value}), sequence="header:n")
    assert "sequence" in found.malformed


@pytest.mark.parametrize("value", [1, "2", 2**63 - 1, "0003"])
def test_a_sequence_may_be_a_number_or_its_digits(value: Any) -> None:
    assert deliver(letter(headers={"n": value}), sequence="header:n").sequence == int(value)


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("utf-8", bytes)]
)
def test_a_declared_encoding_is_taken_off(encoding: str, pack: Any) -> None:
    properties = {"message_id": "m", "content_encoding": encoding}
    assert deliver(letter(pack(b'{"a":1}'), properties=properties)).payload == b'{"a":1}'


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", b"{}"),
        ("gzip", gzip.compress(b"{}", mtime=0)[:-4]),
        ("gzip", gzip.compress(b"{}", mtime=0) + b"more"),
        ("br", b"{}"),
        ("gzip", gzip.compress(b" " * (MEBIBYTE + 1), mtime=0)),
    ],
)
def test_an_encoding_that_cannot_be_taken_off_sets_aside_what_came(
    encoding: str, body: bytes
) -> None:
    found = deliver(letter(body, properties={"message_id": "m", "content_encoding": encoding}))
    assert found.malformed
    assert found.payload == body


def test_a_body_that_is_too_large_is_set_aside_whole() -> None:
    body = b'"' + b"x" * MEBIBYTE + b'"'
    found = deliver(letter(body))
    assert "larger" in found.malformed
    assert found.payload == body


def test_headers_that_the_client_could_not_read_set_the_message_aside() -> None:
    assert deliver(letter(unreadable="The headers cannot be read.")).malformed


def test_headers_are_shown_as_bounded_text() -> None:
    headers = {
        "plain": "value",
        "bytes": b"\xff\x00",
        "lone": "\ud800",
        "escape": "\x1b[31m",
        "when": datetime(2026, 1, 2),
        "x-death": [{"queue": "q", "count": 3}],
        b"odd": 1,
        **{f"h{n}": "x" * 5000 for n in range(100)},
    }
    found = amqp_delivery.texts(letter(headers=headers, routing_key="r", exchange="e"))
    assert found["plain"] == "value"
    assert found["property:message_id"] == "m-1"
    assert (found["routing_key"], found["exchange"]) == ("r", "e")
    assert "3" in found["x-death"]
    shown = json.dumps(found, ensure_ascii=False).encode()
    assert len(shown) < 20_000
    assert not any(0 < ord(c) < 32 or c == "\x7f" for text in found.values() for c in text)


def test_correlation_trace_and_redelivery_are_kept() -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    found = deliver(
        letter(
            properties={"message_id": "m", "correlation_id": "c\n1"},
            headers={"traceparent": trace},
            redelivered=True,
        )
    )
    assert (found.correlation_id, found.traceparent) == ("c\\x0a1", trace)
    assert found.redelivered
