"""Texts without a structure: what stands beside a telling name is masked, and nothing else."""

from __future__ import annotations

import json
from time import perf_counter

import pytest

from monitor.domain import masking
from monitor.domain.redaction import Redaction

POLICY = Redaction().policy("s", "c")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a=1&password=hunter2&b=2", "a=1&password=[redacted]&b=2"),
        ('{"token": "abc def", "n', '{"token": "[redacted]", "n'),
        ("{'api_key': 'k\\'1', 'a': 2}", "{'api_key': '[redacted]', 'a': 2}"),
        ("Authorization: Basic YWxhZGRpbjpvcGVu", "Authorization: [redacted]"),
        ("got 401 for Bearer abcdefghijkl.mno", "got 401 for Bearer [redacted]"),
        ('<password a="b">hunter</password>', '<password a="b">[redacted]</password>'),
        ("postgres://u:pw@host/db", "postgres://u:[redacted]@host/db"),
        (r"said {\"secret\": \"abc\"}", r"said {\"secret\": \"[redacted]\"}"),
        ('x="1" client_secret="a b" y', 'x="1" client_secret="[redacted]" y'),
    ],
)
def test_the_value_of_a_hidden_name_is_masked(text: str, masked: str) -> None:
    assert POLICY.mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "KeyError: 'token'",
        "Unexpected token } in JSON at position 4",
        "invalid token: expected }",
        "ValueError: account=17 is closed",
        "see https://host/path?page=2",
        "",
        "=",
    ],
)
def test_a_text_that_only_speaks_of_one_is_not(text: str) -> None:
    assert POLICY.mask(text) == text


@pytest.mark.parametrize("value", ['a"b\\c', "line\nbreak", "pä\u202ess", "it's"])
def test_a_value_is_masked_however_it_is_quoted(value: str) -> None:
    for text in (value, repr(value), json.dumps(value), json.dumps(value, ensure_ascii=False)):
        assert "[redacted]" in POLICY.mask(f"bad: {text}!", masking.forms([value])), text


def test_short_values_stand_everywhere_and_are_not_looked_for() -> None:
    assert (
        POLICY.mask("error 1 in line 12", masking.forms(["1", "12", " "])) == "error 1 in line 12"
    )


@pytest.mark.parametrize(
    "unit", ['"a', "<a ", "a.", "a=", '\\"a\\":\\"', "a" * 99 + "=", "'", "<a>", " a:", "Basic "]
)
def test_no_text_takes_long(unit: str) -> None:
    begun = perf_counter()
    POLICY.mask(unit * (64_000 // len(unit)))
    POLICY.hides_name(unit * 1_000)
    assert perf_counter() - begun < 5
