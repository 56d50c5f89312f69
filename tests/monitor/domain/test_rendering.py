"""Errors as text: whatever they hold, they fit and group."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.domain.rendering import clean, render


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=50))
def test_any_text_becomes_text_that_the_database_can_hold(text: str) -> None:
    rendered = render(ValueError(text)).text
    rendered.encode("utf-8")
    assert "\x00" not in rendered


def test_two_megabytes_are_cut_and_say_so() -> None:
    text = render(ValueError("x" * 2_000_000)).text
    assert len(text) < 5_000
    assert "more characters" in text


def test_an_error_whose_text_raises_is_rendered_all_the_same() -> None:
    class BrokenError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert "cannot be read" in render(BrokenError()).text


def test_errors_that_differ_in_numbers_and_quoted_parts_share_a_cause() -> None:
    first = render(ValueError("account 17 has no 'EUR'")).cause
    assert render(ValueError("account 4 has no 'USD'")).cause == first
    assert render(ValueError("account 4 is closed")).cause != first
    assert render(KeyError("account 17 has no 'EUR'")).cause != first


def test_clean_keeps_what_fits() -> None:
    assert clean("plain", 10) == "plain"


def test_what_is_masked_is_neither_told_nor_counted_for_the_cause() -> None:
    def mask(text: str) -> str:
        return text.replace("hunter", "#").replace("winter", "#")

    first, second = (render(ValueError(f"{each} is wrong"), mask) for each in ("hunter", "winter"))
    assert first.text == "# is wrong"
    assert first.cause == second.cause
    assert "hunter" not in render(ValueError("x" * 4_500 + "hunter"), mask).text


def test_a_mask_that_fails_tells_nothing() -> None:
    def mask(_text: str) -> str:
        raise RuntimeError

    assert render(ValueError("hunter"), mask).text == "(its text is withheld: RuntimeError)"
