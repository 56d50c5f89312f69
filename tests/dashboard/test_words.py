"""Numbers, durations and foreign texts as people read them."""

from __future__ import annotations

import pytest

from dashboard import words


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0 s"),
        (0, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (432, "7 min 12 s"),
        (3600, "1 h"),
        (86_399, "23 h 59 min"),
        (14 * 86_400, "14 d"),
        (90_061, "1 d 1 h"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float, text: str) -> None:
    assert words.duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "cap", "text"),
    [
        (0, None, "0"),
        (1204, None, "1,204"),
        (10_000, 10_000, "10,000"),
        (10_001, 10_000, "10,000+"),
    ],
)
def test_a_capped_count_says_that_there_are_more(value: int, cap: int | None, text: str) -> None:
    assert words.count(value, cap) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(None, "—"), (0.0, "0.0 %"), (0.0004, "< 0.1 %"), (0.071, "7.1 %"), (1.0, "100.0 %")],
)
def test_an_unknown_ratio_is_never_zero(ratio: float | None, text: str) -> None:
    assert words.percent(ratio) == text


@pytest.mark.parametrize(
    ("octets", "text"), [(0, "0 B"), (999, "999 B"), (1400, "1.4 kB"), (65_536, "66 kB")]
)
def test_a_size_is_in_units_of_a_thousand(octets: int, text: str) -> None:
    assert words.size(octets) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain <b>", "plain <b>"),
        ("a\u202eb", "a\\u202eb"),
        ("a\x00b", "a\\u0000b"),
        ("a\u2028b", "a\\u2028b"),
        ("line\n\tnext", "line\n\tnext"),
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("\U000e0041", "\\U000e0041"),
        ("\ufeffx", "\\ufeffx"),
        (" ", "\\u0020"),
        ("\u3000 ", "\\u3000\\u0020"),
        (" a ", " a "),
    ],
)
def test_what_would_hide_or_reorder_text_is_made_visible(text: str, shown: str) -> None:
    assert words.visible(text) == shown


@pytest.mark.parametrize(("value", "text"), [(0.42, "0.4 ms"), (82.4, "82 ms"), (1432.0, "1.4 s")])
def test_a_short_span_has_a_fitting_unit(value: float, text: str) -> None:
    assert words.milliseconds(value) == text
