"""Editing without seeing: what is redacted stays as it is, and cannot be read by moving it."""

from __future__ import annotations

import pytest

from monitor.domain.redaction import Redaction
from monitor.domain.seals import SealError, opened, sealed

POLICY = Redaction(pointers=("/account/holder",)).policy("s", "c")
TEXT = (
    '{ "amount": 1.10, "password": "hun\\u0074er2", "account": {"holder": {"n": 12}}, "note": "" }'
)


def _sealed(text: str = TEXT) -> str:
    found = sealed(text, POLICY)
    assert found is not None
    return found.text


def test_what_is_not_touched_comes_back_byte_for_byte() -> None:
    text = _sealed()
    assert "hun" not in text
    assert '"password": "⟦redacted 1: text, 7⟧"' in text
    assert '"holder": "⟦redacted 2: object, 1⟧"' in text
    assert opened(text, TEXT, POLICY) == TEXT


def test_other_values_change_and_hidden_ones_can_be_replaced_or_left_out() -> None:
    text = _sealed().replace("1.10", "1.20").replace('"⟦redacted 2: object, 1⟧"', '"nobody"')
    assert opened(text, TEXT, POLICY) == TEXT.replace("1.10", "1.20").replace(
        '{"n": 12}', '"nobody"'
    )
    only = '{"password": "⟦redacted 1: text, 7⟧"}'
    assert opened(only, TEXT, POLICY) == '{"password": "hun\\u0074er2"}'


@pytest.mark.parametrize(
    ("edited", "why"),
    [
        ('{"note": "⟦redacted 1: text, 7⟧"}', "moved to a place where it would be shown"),
        ('{"note": ["⟦redacted 2: object, 1⟧"]}', "moved"),
        ('{"note": "my ⟦redacted 1: text, 7⟧"}', "was changed"),
        ('{"password": "x⟦redacted 1: text, 7⟧"}', "was changed"),
        ('{"password": ["⟦redacted 1: text, 7⟧"]}', "was changed"),
        ('{"password": "⟦redacted 9: text, 7⟧"}', "no redacted value 9"),
        ('{"⟦redacted 1: text, 7⟧": 1}', "a name of a member"),
        ('{"password": ⟦redacted 1: text, 7⟧}', "is no JSON"),
        ("⟦redacted 1: text, 7⟧", "is no JSON"),
    ],
)
def test_a_seal_is_opened_only_where_the_value_stays_hidden(edited: str, why: str) -> None:
    with pytest.raises(SealError, match=why):
        opened(edited, TEXT, POLICY)


def test_a_secret_in_a_string_stays_at_its_place_only() -> None:
    text = '{"body": "password=hunter2", "note": ""}'
    shown = _sealed(text)
    assert "hunter2" not in shown
    assert opened(shown, text, POLICY) == text
    with pytest.raises(SealError, match="moved"):
        opened('{"note": "⟦redacted 1: text, 16⟧"}', text, POLICY)


@pytest.mark.parametrize("text", ["password=hunter2", "plain", '{"password": "⟦redacted 1: '])
def test_text_without_places_is_not_sealed(text: str) -> None:
    assert sealed(text, POLICY) is None


def test_text_without_anything_hidden_is_edited_as_it_is() -> None:
    standard = Redaction().policy("s", "c")
    for text in ("plain\r\n", '{"a": 1}', '{"a": '):
        found = sealed(text, standard)
        assert found is not None
        assert (found.text, found.count) == (text, 0)
