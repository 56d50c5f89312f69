"""What one reader could take differently than another is refused; numbers stay exact."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from monitor.domain.errors import RejectedDeliveryError
from monitor.domain.strict_json import parse_json


@pytest.mark.parametrize(
    ("payload", "value"),
    [
        (b'{"a": [1, "x", null, true]}', {"a": [1, "x", None, True]}),
        (b"10.5", 10.5),
        (b"0.1", 0.1),
        (b"9007199254740993", 9007199254740993),
        (b"1e400", Decimal("1e400")),
        (b"1e100000", Decimal("1e100000")),
        (b"0.1000000000000000055511151231257827", Decimal("0.1000000000000000055511151231257827")),
        (b"-0", 0),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'{"a":1.5,"a":2.5}', {"a": 2.5}),
        (rb'["\u0000", "\\u0000", "\ud83d\ude00", 1.5]', ["\0", "\\u0000", "😀", 1.5]),
        (b'"2026-01-01T10:00:00.5Z, [1.5e3"', "2026-01-01T10:00:00.5Z, [1.5e3"),
        pytest.param(b"9" * 4300, 10**4300 - 1, id="4300 digits"),
    ],
)
def test_values_are_read_exactly(payload: bytes, value: Any) -> None:
    read = parse_json(payload)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b" ",
        b"{",
        b'{"v": NaN}',
        b"[1.5, NaN]",
        b"[1.5, -Infinity]",
        b"01",
        b"[1.]",
        b"[.5]",
        b"[1,]",
        b"1 2",
        b"'a'",
        b'"a\nb"',
        b'[1.5, "a\nb"]',
        b"\xef\xbb\xbf1",
        b"\xef\xbb\xbf1.5",
        b"\xff\xfe1\x00",
        '{"a": 1.5}'.encode("utf-16"),
        '{"a": 1}'.encode("utf-16-le"),
        b'"\xff"',
        b'[1.5, "\xff"]',
        rb'"\ud800"',
        rb'[1.5, "\udc00"]',
        rb'[1.5, {"\ud800": 1}]',
        b'"open',
        b"9" * 4301,
        b"1e" + b"9" * 16,
        b"1e" + b"9" * 5000,
    ],
)
def test_what_is_not_one_json_value_is_refused(payload: bytes) -> None:
    with pytest.raises(RejectedDeliveryError):
        parse_json(payload)


@pytest.mark.parametrize("opener", [(b"[", b"]"), (b'{"a":', b"}")])
def test_a_hundred_levels_are_read_and_one_more_is_refused(opener: tuple[bytes, bytes]) -> None:
    start, end = opener
    for number in (b"1", b"1.5"):
        parse_json(start * 100 + number + end * 100)
        with pytest.raises(RejectedDeliveryError, match="deeper than 100"):
            parse_json(start * 101 + number + end * 101)


def test_brackets_inside_strings_and_side_by_side_are_no_depth() -> None:
    assert parse_json(b'"' + b"[" * 5000 + b'"') == "[" * 5000
    assert parse_json(b"[" + b"[]," * 5000 + b"1]")[-1] == 1


@pytest.mark.parametrize(
    "payload", [b'"\\' * 400_000, b'"' * 800_000, b'["' + b'\\"[' * 250_000, b"[" * 800_000]
)
def test_hostile_megabytes_are_refused_in_one_pass(payload: bytes) -> None:
    # A pattern that went back at each quote would take hours here, not milliseconds.
    with pytest.raises(RejectedDeliveryError):
        parse_json(payload)
