"""Finds values in JSON text by their place, without reading it into values.

A text that ends in the middle is read as far as it goes, so that the beginning of a long payload
can be looked through too; what is no JSON ends the search.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_TOKEN = re.compile(
    r"""[ \t\n\r]*(?:
        (?P<open>[\[{]) | (?P<close>[\]}]) | (?P<comma>,) | (?P<colon>:)
      | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*")
      | (?P<number>-?[0-9][0-9.eE+-]*)
      | (?P<word>true|false|null)
    )""",
    re.VERBOSE | re.DOTALL,
)
_BLANK = re.compile(r"[ \t\n\r]*")
_KINDS = {"{": "object", "[": "array"}
_PAIRS = {"{": "}", "[": "]"}
_WORDS = {"true": "boolean", "false": "boolean", "null": "null"}


# One is made for each value of a payload: a frozen dataclass takes four times as long.
class Span(NamedTuple):
    """A value in a text: text[start:end]. path: names and indexes that lead to it.

    kind: text, number, boolean, null, object or array. length: characters of a text, digits and
    signs of a number, members of an object or array. A cut one ends with the text.
    """

    start: int
    end: int
    path: tuple[str, ...]
    kind: str
    length: int


@dataclass(frozen=True, slots=True)
class Scan:
    """What was found. end: up to where the text is JSON. is_whole: it is JSON from end to end.

    is_cut: it ended in the middle, but was JSON so far. text[:complete] + closing is JSON then: the
    values that are not cut.
    """

    found: tuple[Span, ...]
    leaves: tuple[Span, ...]  # the texts and numbers that were not wanted
    end: int
    is_whole: bool
    is_cut: bool
    complete: int
    closing: str


@dataclass(slots=True)
class _Search:
    """Where in the text a search is. expects: value, first, name, first name, colon or after."""

    text: str
    wanted: Callable[[Sequence[str], bool], bool]
    at: int = 0
    expects: str = "value"
    open: list[str] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    found: list[Span] = field(default_factory=list)
    leaves: list[Span] = field(default_factory=list)
    begun: tuple[int, int, str] | None = None  # of a wanted container: start, depth, kind
    members: int = 0
    complete: tuple[int, int] = (0, 0)  # the end of the last whole value, and how deep it stood


def scan(text: str, wanted: Callable[[Sequence[str], bool], bool]) -> Scan:
    """The values that are wanted; nothing is looked for inside one of them.

    wanted gets the path and whether its last part is the name of a member.
    """
    search = _Search(text=text, wanted=wanted)
    while search.open or search.expects != "after":
        match = _TOKEN.match(text, search.at)
        if match is None or not _step(search, match):
            break
        search.at = match.end()
        # A number that ends with the text may be only the beginning of one.
        may_be_cut = match.lastgroup == "number" and search.at == len(text)
        if search.expects == "after" and search.begun is None and not may_be_cut:
            search.complete = (search.at, len(search.open))
    return _ended(search)


def decoded(token: str) -> str:
    """The text of a JSON string with its quotes; one that breaks a rule as it stands."""
    if "\\" not in token and len(token) > 1 and token[-1] == '"':
        return token[1:-1]
    try:
        return str(json.loads(token))
    except ValueError:
        return token[1:-1] if token.endswith('"') and len(token) > 1 else token[1:]


def _step(search: _Search, match: re.Match[str]) -> bool:
    """Take one token. False: it may not stand here."""
    kind = str(match.lastgroup)
    if kind == "close":
        return _close(search, match)
    if kind == "comma":
        return _comma(search)
    if kind == "colon":
        search.expects, was = "value", search.expects
        return was == "colon"
    if kind == "string" and search.expects in ("name", "first name"):
        search.path[-1], search.expects = decoded(match["string"]), "colon"
        return True
    if search.expects not in ("value", "first"):
        return False
    _value(search, match, kind)
    return True


def _value(search: _Search, match: re.Match[str], kind: str) -> None:
    start = match.start(kind)
    if search.open and search.open[-1] == "[":
        search.path[-1] = str(int(search.path[-1]) + 1)
    if search.begun is not None and len(search.open) == search.begun[1] + 1:
        search.members += 1
    is_member = bool(search.open) and search.open[-1] == "{"
    is_wanted = search.begun is None and search.wanted(search.path, is_member)
    if kind == "open":
        if is_wanted:
            search.begun, search.members = (start, len(search.open), _KINDS[match[kind]]), 0
        is_object = match[kind] == "{"
        search.open.append(match[kind])
        search.path.append("" if is_object else "-1")
        search.expects = "first name" if is_object else "first"
        return
    search.expects = "after"
    if is_wanted:
        search.found.append(_leaf(search, start, match.end(), kind))
    elif search.begun is None and kind != "word":
        search.leaves.append(_leaf(search, start, match.end(), kind))


def _leaf(search: _Search, start: int, end: int, kind: str) -> Span:
    token = search.text[start:end]
    if kind == "string":
        return Span(start, end, tuple(search.path), "text", len(decoded(token)))
    named = "number" if kind == "number" else _WORDS[token]
    return Span(start, end, tuple(search.path), named, len(token))


def _close(search: _Search, match: re.Match[str]) -> bool:
    may = ("after", "first name", "first")
    if not search.open or _PAIRS[search.open[-1]] != match["close"] or search.expects not in may:
        return False
    search.open.pop()
    search.path.pop()
    search.expects = "after"
    if search.begun is not None and len(search.open) == search.begun[1]:
        start, _depth, kind = search.begun
        search.found.append(Span(start, match.end(), tuple(search.path), kind, search.members))
        search.begun = None
    return True


def _comma(search: _Search) -> bool:
    if not search.open or search.expects != "after":
        return False
    search.expects = "name" if search.open[-1] == "{" else "value"
    return True


def _ended(search: _Search) -> Scan:
    rest = _BLANK.match(search.text, search.at)
    left = len(search.text) if rest is None else rest.end()
    is_whole = not search.open and search.expects == "after" and left == len(search.text)
    is_cut = not is_whole and _is_cut(search, left)
    if search.begun is not None:  # it never ended: all the rest belongs to it
        start, depth, kind = search.begun
        path = tuple(search.path[:depth])
        search.found.append(Span(start, len(search.text), path, kind, search.members))
        left = len(search.text)
    elif is_cut and left < len(search.text):
        left = _cut_value(search, left)
    complete, depth = search.complete
    return Scan(
        found=tuple(search.found),
        leaves=tuple(search.leaves),
        end=left,
        is_whole=is_whole,
        is_cut=is_cut,
        complete=complete,
        # Since then containers were only opened: the outer ones are still those.
        closing="".join(_PAIRS[each] for each in reversed(search.open[:depth])),
    )


def _is_cut(search: _Search, left: int) -> bool:
    """Whether the text stopped inside a value, not at something that may not stand there."""
    rest = search.text[left:]
    if not rest:
        return bool(search.open) or search.expects != "after"
    is_open_string = rest.startswith('"') and _TOKEN.match(rest) is None
    is_word = any(word.startswith(rest) for word in _WORDS) or rest == "-"
    return search.expects != "after" and (is_open_string or is_word)


def _cut_value(search: _Search, left: int) -> int:
    """A string that was cut: wanted or not, it ends with the text. Returns where JSON ends."""
    if search.expects not in ("value", "first"):
        return len(search.text)
    if search.open and search.open[-1] == "[":
        search.path[-1] = str(int(search.path[-1]) + 1)
    is_member = bool(search.open) and search.open[-1] == "{"
    end, token = len(search.text), search.text[left:]
    span = Span(left, end, tuple(search.path), "text", len(decoded(token)))
    (search.found if search.wanted(search.path, is_member) else search.leaves).append(span)
    return end
