"""What differs between two payloads, in the sense of the fingerprint."""

from __future__ import annotations

import pytest

from monitor.reports.json_diff import compare
from monitor.reports.redacting import OPEN

Rows = list[tuple[str, str, str | None, str | None]]


def test_the_mismatch_of_the_wireframe() -> None:
    first = '{"amount":1200,"lines":[{"sku":"A"},{"sku":"B"}],"currency":"EUR"}'
    second = '{"amount":1250,"lines":[{"sku":"A"},{"sku":"B"},{"sku":"SHIP-EXP"}],"currency":"EUR"}'
    assert _rows(first, second) == [
        ("amount", "changed", "1200", "1250"),
        ("lines[2]", "added", None, '{"sku": "SHIP-EXP"}'),
    ]
    found = compare(first.encode(), second.encode(), OPEN)
    assert [(row.path, row.value) for row in found.same] == [
        ("lines[0].sku", '"A"'),
        ("lines[1].sku", '"B"'),
        ("currency", '"EUR"'),
    ]
    assert found.equal == 3


def test_of_many_equal_values_only_the_first_are_told() -> None:
    text = str(list(range(1_000))).encode()
    found = compare(text, text, OPEN)
    assert (found.equal, len(found.same)) == (1_000, 200)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1", "1.0"),
        ("1", "1e0"),
        ("100", "1e2"),
        ("-0", "0.0"),
        ("0.10", "1e-1"),
        ("1e100000", "10e99999"),
        ('{"a":1,"b":2}', '{ "b":2, "a":1 }'),
        (r'"\u0041"', '"A"'),
    ],
)
def test_other_spellings_are_equal(first: str, second: str) -> None:
    found = compare(first.encode(), second.encode(), OPEN)
    assert (found.how, found.rows) == ("json", ())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("9007199254740993", "9007199254740992"),
        ("1e100000", "1e100001"),
        ("1e400", "1e401"),
        ("1", '"1"'),
        ("1", "true"),
        ("0", "false"),
        ("null", "0"),
        ("[]", "{}"),
        ("-1", "1"),
    ],
)
def test_other_values_differ_and_are_shown_as_sent(first: str, second: str) -> None:
    assert _rows(first, second) == [("", "changed", first, second)]


def test_null_is_not_absence() -> None:
    assert _rows('{"a":null}', "{}") == [("a", "removed", "null", None)]


def test_odd_member_names_are_quoted_in_the_path() -> None:
    assert _rows('{"a b":{"c":1}}', '{"a b":{"c":2}}')[0][0] == '["a b"].c'


def test_text_is_compared_line_by_line_and_bytes_not_at_all() -> None:
    assert _rows("a=1\nb=2", "a=1\nb=3\nc=4") == [
        ("line 2", "changed", "b=2", "b=3"),
        ("line 3", "added", None, "c=4"),
    ]
    assert compare(b"\xff", b"\xfe", OPEN).how == "bytes"


def test_a_flood_of_differences_is_cut_and_counted() -> None:
    first, second = ("[" + ",".join(each * 2_000) + "]" for each in ("1", "2"))
    found = compare(first.encode(), second.encode(), OPEN)
    assert len(found.rows) + found.more == 2_000
    assert found.more == 1_500


def test_a_long_value_is_cut() -> None:
    (row,) = compare(b'{"a":"x"}', b'{"a":"' + b"y" * 1_000_000 + b'"}', OPEN).rows
    assert row.second is not None
    assert len(row.second) < 2_100


def _rows(first: str, second: str) -> Rows:
    found = compare(first.encode(), second.encode(), OPEN)
    return [(row.path, row.kind, row.first, row.second) for row in found.rows]
