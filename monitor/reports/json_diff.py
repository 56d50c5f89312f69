"""What differs between two payloads: by structure for JSON, line by line for other text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from monitor.domain.redaction import Found, Policy
from monitor.reports import json_text, redacting
from monitor.reports.json_text import Members, Number

_MOST_ROWS = 500
_LONGEST_VALUE = 2_000
_MOST_SAME = 200
_NUMBER = re.compile(r"^-?0*(\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$")
_PLAIN_NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_-]*$")
_LONGEST_EXPONENT = 4_000  # digits; Python refuses to read longer whole numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRow:
    """One path that differs. kind: added (only second), removed (only first) or changed."""

    path: str
    first: str | None
    second: str | None
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SameRow:
    """One path whose value is the same in both, as the first wrote it."""

    path: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """What differs. equal: how many other values are the same; same: the first 200 of these.

    more: rows that differ beyond those given. how: json (structure), text (line by line), bytes
    (only that they differ) or withheld (it is no JSON, so the places that are to be hidden cannot
    be found in it).
    """

    how: str
    rows: tuple[DiffRow, ...]
    equal: int
    more: int
    same: tuple[SameRow, ...] = ()


@dataclass(slots=True)
class _Findings:
    rows: list[DiffRow] = field(default_factory=list)
    equal: int = 0
    more: int = 0
    same: list[SameRow] = field(default_factory=list)

    def keep(self, path: str, value: Any, show: Callable[[Any], str]) -> None:
        self.equal += 1
        if len(self.same) < _MOST_SAME:
            self.same.append(SameRow(path=path, value=show(value)))

    def add(self, path: str, kind: str, first: str | None, second: str | None) -> None:
        if len(self.rows) >= _MOST_ROWS:
            self.more += 1
        else:
            self.rows.append(DiffRow(path=path, kind=kind, first=first, second=second))


def compare(first: bytes, second: bytes, policy: Policy) -> Diff:
    """What differs between two payloads; equality is that of the fingerprint: 1 = 1.0 = 1e0.

    Hidden values are compared, and not shown.
    """
    found = _Findings()
    try:
        texts = first.decode(), second.decode()
    except UnicodeDecodeError:
        return Diff(how="bytes", rows=(), equal=0, more=0)
    looked = [policy.find(text) for text in texts]
    try:
        _walk(found, "", *(_parsed(*each) for each in zip(texts, looked, strict=True)))
        how = "json"
    except (ValueError, RecursionError):
        if any(redacting.is_withheld(policy, each, is_truncated=False) for each in looked):
            return Diff(how="withheld", rows=(), equal=0, more=0)
        found, how = _Findings(), "text"
        sides = zip(texts, looked, strict=True)
        _lines(found, *(redacting.marked_lines(policy, *each) for each in sides))
    return Diff(
        how=how,
        rows=tuple(found.rows),
        equal=found.equal,
        more=found.more,
        same=tuple(found.same),
    )


def _parsed(text: str, found: Found) -> Any:
    if not found.is_whole:
        raise ValueError("no JSON")
    return json_text.parse(redacting.as_json(text, found))


def _walk(found: _Findings, path: str, first: Any, second: Any) -> None:
    if isinstance(first, Members) and isinstance(second, Members):
        _walk_objects(found, path, dict(first), dict(second))
    elif _is_array(first) and _is_array(second):
        _walk_arrays(found, path, first, second)
    elif _is_equal(first, second):
        found.keep(path, first, _short)
    else:
        found.add(path, "changed", _short(first), _short(second))


def _walk_objects(
    found: _Findings, path: str, first: dict[str, Any], second: dict[str, Any]
) -> None:
    if not first and not second:
        found.keep(path, Members(), _short)
    for name in [*first, *(each for each in second if each not in first)]:
        inner = _inner(path, name)
        if name not in second:
            found.add(inner, "removed", _short(first[name]), None)
        elif name not in first:
            found.add(inner, "added", None, _short(second[name]))
        else:
            _walk(found, inner, first[name], second[name])


def _walk_arrays(found: _Findings, path: str, first: list[Any], second: list[Any]) -> None:
    if not first and not second:
        found.keep(path, [], _short)
    shared = min(len(first), len(second))
    for index in range(shared):
        _walk(found, f"{path}[{index}]", first[index], second[index])
    for index in range(shared, len(first)):
        found.add(f"{path}[{index}]", "removed", _short(first[index]), None)
    for index in range(shared, len(second)):
        found.add(f"{path}[{index}]", "added", None, _short(second[index]))


def _lines(found: _Findings, first: list[str], second: list[str]) -> None:
    for number, (left, right) in enumerate(zip_longest(first, second), start=1):
        if left == right:
            found.keep(f"line {number}", left, _line)
            continue
        kind = "added" if left is None else "removed" if right is None else "changed"
        shown = [None if each is None else _line(each) for each in (left, right)]
        found.add(f"line {number}", kind, shown[0], shown[1])


def _line(marked: str) -> str:
    return json_text.visible(redacting.unmarked(marked))


def _inner(path: str, name: str) -> str:
    if not _PLAIN_NAME.match(name):
        return f"{path}[{json_text.quoted(name)}]"
    return f"{path}.{name}" if path else name


def _is_array(value: Any) -> bool:
    return isinstance(value, list) and not isinstance(value, Members)


def _is_equal(first: Any, second: Any) -> bool:
    if isinstance(first, Number) and isinstance(second, Number):
        return _canonical(first) == _canonical(second)
    if all(isinstance(each, str) and redacting.is_marked(each) for each in (first, second)):
        return redacting.are_equal(first, second)
    return type(first) is type(second) and bool(first == second)


def _canonical(number: str) -> tuple[bool, str, int | str]:
    """Sign, digits and exponent of a number; never expanded, so 1e100000 costs nothing."""
    match = _NUMBER.match(number)
    if match is None or len(match[3] or "") > _LONGEST_EXPONENT:
        return False, number, ""
    fraction = match[2] or ""
    digits = (match[1] + fraction).lstrip("0")
    if not digits:
        return False, "", 0
    significant = digits.rstrip("0")
    exponent = int(match[3] or 0) - len(fraction) + len(digits) - len(significant)
    return number.startswith("-"), significant, exponent


def _short(value: Any) -> str:
    """The value as JSON text in one line, cut when it is long."""
    size, parts = 0, []
    for part in json_text.compact(value):
        parts.append(part)
        size += len(part)
        if size > _LONGEST_VALUE:
            return "".join(parts)[:_LONGEST_VALUE] + "…"
    return "".join(parts)
