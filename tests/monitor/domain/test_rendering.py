"""Errors as text: whatever they hold, they fit and group."""

from __future__ import annotations

import json
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from monitor.domain.rendering import RenderedError, clean, digest, parts, render


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


def _apply(text: str) -> None:
    raise ValueError(text)


def _charge(text: str) -> None:
    raise ValueError(text)


def _deep(depth: int) -> None:
    if depth:
        _deep(depth - 1)
    raise ValueError("too deep")


def _parse(text: str) -> None:
    json.loads(text)


def _raised(call: Callable[..., None], *values: object) -> RenderedError:
    try:
        call(*values)
    except Exception as error:
        return render(error)
    raise AssertionError("it raises")


def test_the_same_text_from_two_places_of_the_hosts_code_is_two_causes() -> None:
    assert _raised(_apply, "no account 1").cause == _raised(_apply, "no account 2").cause
    assert _raised(_apply, "no account 1").cause != _raised(_charge, "no account 1").cause


def test_own_frames_are_modules_and_functions_without_lines_or_foreign_code() -> None:
    found = _raised(_parse, "x")
    assert [each.rpartition(".")[2] for each in found.own] == ["_raised", "_parse"]
    assert all(each.partition(".")[0] not in ("json", "monitor") for each in found.own)
    assert any("decoder.py" in each for each in found.where)


def test_how_deep_a_recursion_was_does_not_count_for_the_cause() -> None:
    assert _raised(_deep, 3).cause == _raised(_deep, 30).cause


def test_an_error_without_own_frames_is_told_by_class_and_text_as_ever() -> None:
    compared = "ValueError\naccount … has no …"
    assert render(ValueError("account 17 has no 'EUR'")).cause == f"ValueError-{digest(compared)}"


def test_the_parts_of_a_line_are_the_line_and_say_what_varies() -> None:
    text = "account 17 has no 'EUR' left"
    found = parts(text + "\nmore 18")
    assert "".join(part.text for part in found) == text
    assert [part.text for part in found if part.is_variable] == ["17", "'EUR'"]


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
