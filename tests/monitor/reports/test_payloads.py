"""Payloads as people read them: nothing rounded, nothing invisible, nothing too long."""

from __future__ import annotations

import pytest

from monitor.reports import payloads
from monitor.reports.redacting import OPEN
from tests import factories

JSON = "application/json"


@pytest.mark.parametrize(
    "number", ["9007199254740993", "1e400", "1e100000", "1.10", "-0", "9" * 5_000, "0.1e-5"]
)
def test_numbers_are_shown_exactly_as_sent(number: str) -> None:
    found = _view(f'{{"n":{number}}}')
    assert found.text == f'{{\n  "n": {number}\n}}'
    assert found.tree is not None
    assert (found.tree.children[0].kind, found.tree.children[0].text) == ("number", number)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (r'{"s":"x\u0000y"}', r'"x\u0000y"'),
        (r'{"s":"\ud800"}', r'"\ud800"'),
        (r'{"s":"\\u0000"}', r'"\\u0000"'),
        ('{"s":"a\u202eb"}', r'"a\u202eb"'),
        ('{"s":"a\x7fb\x9bc"}', r'"a\u007fb\u009bc"'),
        ('{"s":"ü 😀"}', '"ü 😀"'),
    ],
)
def test_strings_show_what_cannot_be_seen_and_can_be_sent_as_utf8(body: str, shown: str) -> None:
    text = _view(body).text
    assert shown in text
    assert text.encode()


@pytest.mark.parametrize(
    "body", ['{"v":NaN}', '{"v":', "[1 2]", "[" * 5_000, "[" * 300 + "]" * 300]
)
def test_what_is_no_json_or_too_deep_is_shown_as_text(body: str) -> None:
    found = _view(body)
    assert (found.kind, found.text, found.tree) == ("text", body, None)


def test_nine_kilobytes_of_huge_exponents_stay_small() -> None:
    assert len(_view("[" + ",".join(["1e100000"] * 1_000) + "]").text) < 20_000


def test_deep_indentation_cannot_blow_up_a_page() -> None:
    body = "[" * 99 + ",".join("1" * 20_000) + "]" * 99
    assert len(_view(body).text) <= 4 * payloads.SHOWN_BYTES


def test_members_keep_their_order_and_their_doubles() -> None:
    assert _view('{"b":1,"a":2,"b":3}').text == '{\n  "b": 1,\n  "a": 2,\n  "b": 3\n}'


def test_binary_is_hex_with_its_letters() -> None:
    found = payloads.view(b"\x00\xffGIF89a", "image/gif", 8, OPEN)
    assert found.kind == "binary"
    assert found.text.startswith("00000000  00 ff 47 49 46 38 39 61")
    assert found.text.endswith("..GIF89a")


def test_a_long_payload_is_cut_at_a_character(db: None) -> None:
    body = "[" + '"ü",' * 40_000 + "1]"
    number = factories.message(factories.consumer(), payload=body)
    found = payloads.of_message(number)
    assert found is not None
    assert (found.kind, found.truncated, found.payload_bytes) == ("text", True, len(body.encode()))
    assert len(found.text.encode()) <= payloads.SHOWN_BYTES
    assert found.tree is not None
    assert 10_000 < len(found.tree.children) < 40_000
    raw = payloads.raw(number)
    assert raw is not None
    assert raw.payload == body.encode()


def test_an_empty_or_unknown_payload(db: None) -> None:
    assert payloads.view(b"", JSON, 0, OPEN).kind == "empty"
    assert payloads.of_message(1) is None
    assert payloads.raw(1) is None


def _view(body: str) -> payloads.PayloadView:
    encoded = body.encode()
    return payloads.view(encoded, JSON, len(encoded), OPEN)
