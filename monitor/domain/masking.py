"""Masks what stands beside a telling name in plain text: password=…, "token": …, Bearer ….

The best that can be done for text without a structure; JSON is looked through by its places.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

MASK = "[redacted]"
_LEAST = 4  # characters of a value that is looked for in other texts: "1" stands everywhere
_MOST_VALUES = 100

_PAIR = re.compile(
    r"""
    (?P<quote>["'])(?P<quoted>[^"'\n]{1,100})(?P=quote)\s{0,8}[:=]\s{0,8}(?:
        "(?P<value1>[^"\\]*(?:\\.[^"\\]*)*)" | '(?P<value2>[^'\\]*(?:\\.[^'\\]*)*)'
      | (?P<value3>[^\s"',;{}\[\]()]+))
  | \\"(?P<escaped>[^"'\\\n]{1,100})\\"\s{0,8}:\s{0,8}(?:
        \\"(?P<value4>[^"]*?)\\" | (?P<value5>[^\s"\\,{}\[\]]+))
  | (?P<bare>[A-Za-z_][\w.-]{1,99})=(?:
        "(?P<value6>[^"\n]*)" | '(?P<value7>[^'\n]*)' | (?P<value8>[^\s&;,"'<>]+))
  | <(?P<tag>[A-Za-z_][\w.:-]{0,99})(?:\s[^<>]{0,300})?>(?P<value9>[^<]+)</
  | ^[ \t]{0,40}(?P<line>[A-Za-z_][\w-]{1,99})[ \t]{0,8}:[ \t]{1,8}(?P<value10>\S.*)$
    """,
    re.VERBOSE | re.MULTILINE,
)
_HINT = re.compile(r"[=:<]|bearer|basic", re.IGNORECASE)
_NAMED = ("quoted", "escaped", "bare", "tag", "line")
_CREDENTIALS = re.compile(
    r"\b(?P<scheme>Bearer|Basic)\s{1,4}(?P<bearer>[A-Za-z0-9._~+/=-]{8,})"
    r"|(?<=://)[^\s/:@]{1,200}:(?P<userinfo>[^\s/@]{1,200})(?=@)",
    re.IGNORECASE,
)


def pairs(text: str, hides: Callable[[str], bool]) -> str:
    """The text with the values of hidden names, and credentials, masked."""
    if not _HINT.search(text):
        return text
    masked = _PAIR.sub(lambda found: _masked_pair(found, hides), text)
    return _CREDENTIALS.sub(_masked_credentials, masked)


def forms(values: Iterable[str]) -> tuple[str, ...]:
    """The values as they may stand in other texts: plainly, as JSON or as Python writes them.

    The longest first, of the first 100 values that are long enough to be looked for.
    """
    wanted = [each for each in dict.fromkeys(values) if len(each.strip()) >= _LEAST]
    found = {form for value in wanted[:_MOST_VALUES] for form in _forms(value)}
    return tuple(sorted(found, key=len, reverse=True))


def verbatim(text: str, wanted: Iterable[str]) -> str:
    """The text without these values; wanted: their forms."""
    for form in wanted:
        if form in text:
            text = text.replace(form, MASK)
    return text


def _masked_pair(found: re.Match[str], hides: Callable[[str], bool]) -> str:
    name = next((found[each] for each in _NAMED if found[each] is not None), "")
    if not hides(name):
        return found[0]
    group = next(each for each, value in found.groupdict().items() if value and "value" in each)
    return _replaced(found, group)


def _masked_credentials(found: re.Match[str]) -> str:
    return _replaced(found, "bearer" if found["bearer"] is not None else "userinfo")


def _replaced(found: re.Match[str], group: str) -> str:
    start, end = found.start(group) - found.start(), found.end(group) - found.start()
    return found[0][:start] + MASK + found[0][end:]


def _forms(value: str) -> tuple[str, ...]:
    plain = value.encode("unicode_escape").decode()
    as_json = (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
    return value, plain, *as_json, repr(value)[1:-1]
