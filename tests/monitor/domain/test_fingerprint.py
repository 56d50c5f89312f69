"""Equal content has one fingerprint however it is spelled; other content has another."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.domain.fingerprint import canonical, fingerprint, is_json, parse_json
from monitor.domain.strict_json import without_strings

BASE = b'{"amount":10.5,"items":[{"sku":"A","n":1},{"sku":"B","n":2}],"note":"caf\xc3\xa9"}'
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15) + 1, 10**15 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def _same(one: bytes, other: bytes) -> bool:
    return fingerprint(one, "application/json") == fingerprint(other, "application/json")


@given(VALUES, st.sampled_from([None, 2]), st.booleans())
def test_the_fast_and_the_exact_way_give_the_same_bytes(
    value: Any, indent: int | None, escaped: bool
) -> None:
    plain = json.dumps(value, indent=indent, ensure_ascii=escaped).encode()
    # 1.0 forces the exact way for the whole text; the first item must come out unchanged.
    exact = canonical(b"[" + plain + b",1.0]")
    assert exact == canonical(b"[" + plain + b",1]")
    assert exact == b"[" + canonical(plain) + b",1]"


@given(VALUES)
def test_the_canonical_form_is_json_of_the_same_value(value: Any) -> None:
    assert orjson.loads(canonical(json.dumps(value).encode())) == value


@given(
    st.integers(-(10**20), 10**20),
    st.integers(-40, 40),
    st.integers(0, 5),
    st.sampled_from(["e", "E"]),
)
def test_the_spelling_of_a_number_does_not_count(
    digits: int, exponent: int, zeros: int, letter: str
) -> None:
    sign = "+" if exponent >= 0 else ""
    one = f"{digits}{letter}{exponent}".encode()
    other = f"{digits}.{'0' * (zeros + 1)}{letter}{sign}{exponent}".encode()
    third = f"{Decimal(digits).scaleb(exponent):f}".encode()
    assert _same(one, other)
    assert _same(one, third)


@given(st.decimals(allow_nan=False, allow_infinity=False), st.decimals("-9", "9", places=2))
def test_numbers_share_a_fingerprint_only_when_equal(one: Decimal, other: Decimal) -> None:
    first, second = (str(n).replace("E+", "e").encode() for n in (one, other))
    assert _same(first, second) == (one == other)


@pytest.mark.parametrize("text", [b"1", b"1.0", b"1e0", b"10e-1", b"0.1E+1", b"1.000", b" 1\r\n"])
def test_one_is_one(text: bytes) -> None:
    assert _same(b"1", text)


@pytest.mark.parametrize("text", [b"-0", b"0.0", b"-0.0", b"0e9999", b"-0e-3"])
def test_zero_has_no_sign(text: bytes) -> None:
    assert _same(b"0", text)


@pytest.mark.parametrize(
    "body",
    [
        b'{"note":"caf\xc3\xa9","items":[{"n":1,"sku":"A"},{"n":2,"sku":"B"}],"amount":10.5}',
        BASE.replace(b",", b" ,\r\n"),
        BASE.replace(b"\xc3\xa9", rb"\u00e9"),
        BASE.replace(b"10.5", b"10.50"),
        BASE.replace(b"10.5", b"1.05e1"),
    ],
)
def test_spelling_and_member_order_do_not_count(body: bytes) -> None:
    assert _same(BASE, body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"amount":10.5,"items":[{"sku":"B","n":2},{"sku":"A","n":1}],"note":"caf\xc3\xa9"}',
        BASE.replace(b"10.5", b'"10.5"'),
        BASE.replace(b"}]", b'}],"x":null'),
        BASE.replace(b"\xc3\xa9", "e\u0301".encode()),
        BASE.replace(b":1}", b":true}"),
        BASE.replace(b'{"sku":"A","n":1},{"sku":"B","n":2}', b""),
    ],
)
def test_content_counts(body: bytes) -> None:
    assert not _same(BASE, body)


def test_an_empty_list_is_no_empty_object() -> None:
    assert not _same(b"[]", b"{}")


def test_neighbours_beyond_a_float_stay_apart() -> None:
    assert not _same(b'{"id":9007199254740993}', b'{"id":9007199254740992}')
    assert not _same(b"1e100000", b"1e100001")


def test_a_huge_exponent_is_never_written_out() -> None:
    body = b"[" + b",".join([b"1e100000"] * 1000) + b"]"
    assert len(canonical(body)) == len(body)


@pytest.mark.parametrize("body", [b"{", b"\xff", rb'"\ud800"', b"NaN", b"[" * 5000, b"9" * 5000])
def test_a_body_that_is_no_json_counts_by_its_bytes(body: bytes) -> None:
    assert _same(body, body)
    assert not _same(body, body + b" ")


def test_other_media_types_count_by_their_bytes() -> None:
    assert fingerprint(b"1", "text/plain") != fingerprint(b"1 ", "text/plain")
    assert fingerprint(b"1", "text/plain") != fingerprint(b"1", "application/json")


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("application/vnd.x+json", True),
        ("text/plain", False),
        ("application/jsonl", False),
        ("", False),
    ],
)
def test_media_types_that_stand_for_json(content_type: str, expected: bool) -> None:
    assert is_json(content_type) is expected


def test_the_stored_fingerprint_never_changes_between_releases() -> None:
    # A change here needs a new HASH_VERSION.
    assert fingerprint(BASE, "application/json").hex() == "6b3d39385a905644bf42602a56a50a9e"
    assert fingerprint(b"raw", "text/plain").hex() == "8b69717c5a634cdca2b2c5ca1cc42264"
    assert canonical(BASE) == (
        b'{"amount":105e-1,"items":[{"n":1,"sku":"A"},{"n":2,"sku":"B"}],"note":"caf\xc3\xa9"}'
    )
    assert parse_json(BASE)["amount"] == 10.5


def test_strings_are_emptied_whatever_they_hold() -> None:
    assert without_strings(rb'{"a\"[":"x\\","b":1.5}') == b'{"":"","":1.5}'
