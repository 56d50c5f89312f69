"""What is redacted is found wherever it stands, also in the beginning of a long text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.domain.redaction import STANDARD as STANDARD_NAMES
from monitor.domain.redaction import Hidden, Policy, Redaction, Rules, replaced

STANDARD = Redaction().policy("s", "c")
SECRET = "s3cr3t-0123456789"  # noqa: S105 - of these tests


def _shown(text: str, policy: Policy = STANDARD) -> str:
    return replaced(text, policy.find(text).hidden, lambda _index, _each: "#")


@pytest.mark.parametrize(
    "name",
    [
        *("password", "userPassword", "new_passwords", "PASSWORD", "Token", "access_token"),
        *("clientSecret", "X-Api-Key", "apikey", "Proxy-Authorization", "Set-Cookie", "PAN"),
        *("cardNumber", "card-number", "CVV", "private_key", "credentials", "pa\u00dfwort_token"),
    ],
)
def test_a_standard_name_is_hidden_however_it_is_spelt(name: str) -> None:
    assert STANDARD.hides_name(name)


@pytest.mark.parametrize(
    "name", ["company", "expand", "japan", "panel", "number", "amount", "secretary"]
)
def test_a_name_that_only_holds_its_letters_is_not(name: str) -> None:
    assert not STANDARD.hides_name(name)


def test_two_words_also_stand_for_a_member_within_one() -> None:
    text = '{"card": {"number": 4111, "month": 1}, "cards": [{"number": "5"}], "number": 7}'
    assert _shown(text) == (
        '{"card": {"number": #, "month": 1}, "cards": [{"number": #}], "number": 7}'
    )


def test_all_of_a_value_is_hidden_and_that_there_is_none_is_not() -> None:
    text = '{"token": {"a": [1, {"b": "x"}]}, "secret": null, "pwd": "", "otp": false}'
    found = STANDARD.find(text).hidden
    assert [(each.span.kind, each.span.length) for each in found] == [
        ("object", 1),
        ("text", 0),
        ("boolean", 5),
    ]
    assert _shown(text) == '{"token": #, "secret": null, "pwd": #, "otp": #}'


def test_pointers_name_places_and_a_star_any_step() -> None:
    rules = Redaction(standard=False, pointers=("/a~1b/c~0d", "/lines/*/iban", "/lines/1/sku"))
    text = '{"a/b":{"c~d":1,"e":2},"lines":[{"iban":3,"sku":4},{"iban":5,"sku":6}],"iban":7}'
    assert _shown(text, rules.policy("s", "c")) == (
        '{"a/b":{"c~d":#,"e":2},"lines":[{"iban":#,"sku":4},{"iban":#,"sku":#}],"iban":7}'
    )
    whole = Redaction(pointers=("",)).policy("s", "c")
    assert _shown(' {"a": 1} ', whole) == " # "


def test_a_name_written_with_escapes_is_the_same_name() -> None:
    assert (
        _shown(r'{"pass\u0077ord": "x", "\u0074oken": 1}')
        == r'{"pass\u0077ord": #, "\u0074oken": #}'
    )


def test_every_one_of_two_members_of_a_name_is_hidden() -> None:
    assert _shown('{"token":1,"token":2}') == '{"token":#,"token":#}'


def test_rules_of_a_source_and_of_a_consumer_add_to_those_of_all() -> None:
    rules = Redaction(
        standard=False,
        names=("iban",),
        sources={"a": Rules(names=("vat",))},
        consumers={"c": Rules(pointers=("/x",))},
    )
    assert rules.policy("b", "d").names == {"iban"}
    assert rules.policy("a", "d").names == {"iban", "vat"}
    assert rules.policy("b", "c").pointers == {("x",)}
    # Whose it was is not known any more: what is hidden of any is hidden.
    assert rules.policy("", "").names == {"iban", "vat"}
    assert rules.policy("", "").pointers == {("x",)}


def test_the_standard_can_be_emptied_and_then_nothing_is_hidden() -> None:
    nothing = Redaction(standard=False).policy("s", "c")
    text = '{"password": "x", "s": "token=abc"}'
    assert nothing.find(text).hidden == ()
    assert nothing.mask("Authorization: Bearer abcdefghij") == "Authorization: Bearer abcdefghij"


def test_json_within_a_string_is_masked() -> None:
    (found,) = STANDARD.find(json.dumps({"body": json.dumps({"password": SECRET, "a": 1})})).hidden
    assert found.masked == '{"password": "[redacted]", "a": 1}'


def test_the_beginning_of_a_long_text_hides_what_it_holds_of_a_secret() -> None:
    text = json.dumps(
        {"a": [1, True], "password": f'{SECRET}"\\x', "card": {"number": [SECRET]}, "z": "e\n"}
    )
    for cut in range(1, len(text)):
        found = STANDARD.find(text[:cut])
        assert found.is_cut
        assert SECRET[:4] not in _shown(text[:cut]), cut
        if found.complete:
            json.loads(text[: found.complete] + found.closing)


@pytest.mark.parametrize("text", ['{"a" "password":"x"}', "[1,]", "nope", '{"a":1}}', "", "{]"])
def test_what_is_no_json_is_read_up_to_there(text: str) -> None:
    found = STANDARD.find(text)
    assert not found.is_whole
    assert found.end < len(text) or not text


def test_numbers_and_spaces_stay_as_they_are_written() -> None:
    text = '{ "n" : 1.10 ,\r\n "token" : 12345678901234567890123 , "e":1e400 }'
    assert _shown(text) == '{ "n" : 1.10 ,\r\n "token" : # , "e":1e400 }'


def test_hidden_values_are_found_to_be_masked_in_other_texts() -> None:
    text = json.dumps({"password": SECRET, "card": {"number": 4111111111111111}, "otp": True})
    values = STANDARD.values(text)
    assert set(values) == {SECRET, "4111111111111111"}
    told = STANDARD.mask(f"refused {SECRET!r} of 4111111111111111", values)
    assert told == "refused '[redacted]' of [redacted]"
    # …also where another document has them under another name.
    copy = json.dumps({"a": f"x{SECRET}y", "n": 4111111111111111})
    hidden = STANDARD.find(copy, values).hidden
    assert [each.masked for each in hidden] == ["x[redacted]y", None]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(_JSON, st.integers(0, 3), st.sampled_from([None, 1]))
def test_a_secret_is_hidden_at_any_depth_of_any_json(value: Any, depth: int, indent: Any) -> None:
    inner: Any = {"v": value, "password": [SECRET, value]}
    for _level in range(depth):
        inner = {"a": value, "b": [value, inner]}
    text = json.dumps(inner, indent=indent, ensure_ascii=bool(indent))
    found = STANDARD.find(text)
    assert found.is_whole
    assert SECRET not in _shown(text)
    json.loads(replaced(text, found.hidden, _as_json))


def _as_json(_index: int, _each: Hidden) -> str:
    return '"#"'


def test_every_standard_name_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "redaction.md").read_text(encoding="utf-8")
    listed = page.partition("with all that is in them:\n\n")[2].partition("\n\n")[0]
    assert tuple(re.split(r",\s+", listed)) == STANDARD_NAMES
