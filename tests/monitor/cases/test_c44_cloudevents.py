"""C44: CloudEvents in every mode; one event is one message however it was sent."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from monitor.sources.cloudevents import BATCH, STRUCTURED
from tests import entrance
from tests.entrance import EVENTS, TOKEN, Answer, configured, post

pytestmark = pytest.mark.django_db(transaction=True)

EVENT: dict[str, Any] = {"specversion": "1.0", "type": "t", "source": "urn:s", "id": "a b"}
CE = {"ce-specversion": "1.0", "ce-type": "t", "ce-source": "urn:s", "ce-id": "a%20b"}


def _structured(event: Any, content_type: str = STRUCTURED) -> Answer:
    body = event if isinstance(event, bytes) else json.dumps(event).encode()
    return post("events", body, content_type=content_type)


def _binary(body: bytes, content_type: str = "application/json", **ce: str | None) -> Answer:
    changed = {**CE, **{f"ce-{name}": value for name, value in ce.items()}}
    headers = {**TOKEN, **{name: value for name, value in changed.items() if value is not None}}
    return post("events", body, content_type=content_type, headers=headers)


def _payloads() -> list[tuple[bytes, str]]:
    return entrance.rows("SELECT payload, content_type FROM comboio_message ORDER BY id")


def test_c44_binary_and_structured_are_one_message() -> None:
    with configured(events=EVENTS), entrance.effects("events"):
        assert _binary(b'{"n":1.0}').status == 202
        assert _structured({**EVENT, "data": {"n": 1}}).status == 200
        assert _structured({**EVENT, "data": {"n": 2}}).status == 422
        assert entrance.count_effects(key="a b", origin="urn:s") == 1


def test_c44_the_data_is_kept_as_it_was_written() -> None:
    with configured(events=EVENTS), entrance.effects("events"):
        text = b'{"data" : {"b": 1.50, "a":"\\u00e9}" }, "id":"1","source":"s","type":"t",'
        assert _structured(text + b'"specversion":"1.0"}').status == 202
        plain = {**EVENT, "datacontenttype": "text/plain", "data": "plain, “text”"}
        assert _structured(plain).status == 202
        assert entrance.count_effects() == 2
    assert _payloads() == [
        (b'{"b": 1.50, "a":"\\u00e9}" }', "application/json"),
        ("plain, “text”".encode(), "text/plain"),
    ]


def test_c44_base64_is_kept_byte_for_byte_and_equals_the_binary_mode() -> None:
    raw = bytes(range(256))
    event = {**EVENT, "datacontenttype": "application/x-thing"}
    with configured(events=EVENTS), entrance.effects("events"):
        encoded = base64.b64encode(raw).decode()
        assert _structured({**event, "data_base64": encoded}).status == 202
        assert _binary(raw, "application/x-thing").status == 200
        assert _structured({**event, "id": "2", "data_base64": "?"}).status == 400
    assert _payloads() == [(raw, "application/x-thing")]


def test_c44_an_event_with_only_a_dataref_is_told_apart_by_it() -> None:
    with configured(events=EVENTS), entrance.effects("events"):
        assert _structured({**EVENT, "dataref": "https://x/1"}).status == 202
        assert _binary(b"", dataref="https://x/1").status == 200
        assert _structured({**EVENT, "dataref": "https://x/2"}).status == 422
        assert _structured({**EVENT, "id": "empty"}).status == 202
        assert entrance.count_effects() == 2
    assert [payload for payload, _ in _payloads()] == [b'{"dataref":"https://x/1"}', b"null"]


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("id", "%zz"),
        ("id", "%FF"),
        ("id", "%"),
        ("id", ""),
        ("id", None),
        ("id", "1, 2"),
        ("id", "é"),
        ("id", "a%0Ab"),
        ("source", None),
        ("source", ""),
        ("type", None),
        ("specversion", "0.3"),
        ("specversion", None),
    ],
)
def test_c44_a_wrong_attribute_is_named(attribute: str, value: str | None) -> None:
    with configured(events=EVENTS), entrance.effects("events"):
        answer = _binary(b"{}", **{attribute: value})
    assert answer.status == 400
    assert attribute in answer.body["detail"] or "key" in answer.body["detail"]
    assert entrance.stored() == 0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"id": None}, "id"),
        ({"id": ""}, "id"),
        ({"source": None}, "source"),
        ({"Bad": "x"}, "Bad"),
        ({"n": 1.5}, "n"),
        ({"data": 1, "data_base64": ""}, "data_base64"),
    ],
)
def test_c44_a_wrong_member_is_named(change: dict[str, Any], named: str) -> None:
    with configured(events=EVENTS), entrance.effects("events"):
        answer = _structured({**EVENT, **change})
    assert answer.status == 400
    assert named in answer.body["detail"]


@pytest.mark.parametrize("body", [b"[]", b"1", b'{"id":"1"'])
def test_c44_what_is_no_event_is_refused(body: bytes) -> None:
    with configured(events=EVENTS):
        assert _structured(body).status == 400


def test_c44_neither_mode_is_415() -> None:
    with configured(events=EVENTS):
        assert post("events", b"{}").status == 415
        assert _structured(EVENT, "application/cloudevents+avro").status == 415


def test_c44_a_batch_is_answered_item_by_item() -> None:
    good = {**EVENT, "data": {"n": 1.50}}
    batch = [{**good, "id": "1"}, {**good, "id": ""}, {**good, "id": "3"}]
    with configured(events=EVENTS), entrance.effects("events"):
        answer = _structured(batch, BATCH)
        assert answer.status == 207
        assert [item["status"] for item in answer.body["items"]] == [202, 400, 202]
        assert "id" in answer.body["items"][1]["detail"]
        again = _structured([batch[0], batch[2], {**good, "id": "1", "data": 0}], BATCH)
        assert [item["status"] for item in again.body["items"]] == [200, 200, 422]
        assert _structured([batch[0], {**good, "id": "4"}], BATCH).status == 202
        assert _structured([batch[1]], BATCH).status == 400
        assert _structured([], BATCH).status == 202
        assert _structured({}, BATCH).status == 400
        assert entrance.count_effects() == 3
    assert entrance.refused() == {"events:malformed": 3}
    assert _payloads()[0] == (b'{"n": 1.5}', "application/json")


def test_c44_equal_and_unequal_copies_within_one_batch() -> None:
    copies = [{**EVENT, "data": n} for n in (1, 1, 2)]
    with configured(events=EVENTS), entrance.effects("events"):
        answer = _structured(copies, BATCH)
        assert [item["outcome"] for item in answer.body["items"]] == [
            "new",
            "duplicate",
            "mismatch",
        ]
        assert entrance.count_effects() == 1


def test_c44_attributes_can_be_session_and_sequence() -> None:
    source = {**EVENTS, "session": "attribute:partitionkey", "sequence": "attribute:sequence"}
    with configured(events=source), entrance.effects("events"):
        event = {**EVENT, "data": 1, "partitionkey": "p", "sequence": "7", "time": "yesterday"}
        assert _structured(event).status == 202
        assert _binary(b"1", id="2", partitionkey="p", sequence="x").status == 400
    row = entrance.rows(
        "SELECT s.key, m.sequence, m.headers->>'ce-time' FROM comboio_message m"
        " JOIN comboio_session s ON s.id = m.session"
    )
    assert row == [("p", 7, "yesterday")]
