"""Numbers, durations and foreign texts as people read them."""

from __future__ import annotations

import unicodedata

from django.utils import formats

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
_SIZES = ("B", "kB", "MB", "GB", "TB")
_KEPT = "\n\t"
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINERS = "\u200d"  # holds emoji families together and moves no text
_FEW = 10
_SHARE_SHOWN = 0.001


def duration(seconds: float) -> str:
    """A span in its two largest units: "7 min 12 s". The unit signs are the same in every language.

    live.js writes the same words; change both.
    """
    left = max(0, int(seconds))
    for place, (unit, length) in enumerate(_UNITS):
        if left >= length:
            first, rest = divmod(left, length)
            if place + 1 == len(_UNITS):
                return f"{first} {unit}"
            smaller, smaller_length = _UNITS[place + 1]
            second = rest // smaller_length
            return f"{first} {unit} {second} {smaller}" if second else f"{first} {unit}"
    return "0 s"


def milliseconds(value: float) -> str:
    """A short span: "0.4 ms", "82 ms", "1.4 s"."""
    if value >= 1000:  # noqa: PLR2004 - a second
        return f"{number(value / 1000, 1)} s"
    return f"{number(value, 1 if value < _FEW else 0)} ms"


def number(value: float, decimals: int = 0) -> str:
    """A number for people, rounded, and grouped as their language does."""
    value = round(value, decimals)  # Django would cut the rest off
    return formats.number_format(value, decimal_pos=decimals, force_grouping=True)


def count(value: int | float, cap: int | None = None) -> str:
    """A whole number; beyond the cap of its report "10,000+"."""
    if cap is not None and value > cap:
        return f"{number(cap)}+"
    return number(int(value))


def rate(per_second: float) -> str:
    """Something per second: "0", "0.4", "41"."""
    if per_second == 0:
        return "0"
    return number(per_second, 0 if per_second >= _FEW else 1)


def percent(ratio: float | None) -> str:
    """A ratio from 0 to 1 as percent; unknown is a dash, never 0."""
    if ratio is None:
        return "—"
    if 0 < ratio < _SHARE_SHOWN:
        return f"< {number(_SHARE_SHOWN * 100, 1)} %"
    return f"{number(ratio * 100, 1)} %"


def size(octets: int) -> str:
    """A size in bytes: "812 B", "1.4 kB"."""
    value = float(octets)
    for unit in _SIZES:
        if value < 1000 or unit == _SIZES[-1]:  # noqa: PLR2004
            return f"{number(value, 0 if unit == 'B' or value >= _FEW else 1)} {unit}"
        value /= 1000
    raise AssertionError("the last unit takes every size")


def visible(text: object) -> str:
    """Foreign text with what would hide or reorder it made visible: U+202E becomes \\u202e.

    Blanks are shown like that when there is nothing else, so that a link has something to click.
    It is not made safe for HTML by this: the templates escape it as they escape everything.
    """
    found = str(text)
    if found.isspace():
        return "".join(map(_escaped, found))
    return "".join(_shown(character) for character in found)


def _shown(character: str) -> str:
    if character in _KEPT or character == _JOINERS:
        return character
    if unicodedata.category(character) not in _HIDDEN_CATEGORIES:
        return character
    return _escaped(character)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004
