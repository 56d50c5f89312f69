"""A payload as a person reads it: exact numbers, no control characters, never more than 64 kB."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from monitor.domain.redaction import Found, Policy
from monitor.reports import json_text, redacting
from monitor.reports.json_text import Node
from monitor.reports.reading import reading
from monitor.reports.redacting import Redactor
from monitor.store import sql

__all__ = [
    "SHOWN_BYTES",
    "Node",
    "PayloadView",
    "RawPayload",
    "of_message",
    "pretty",
    "raw",
    "view",
]

SQL = sql.load(__file__)

SHOWN_BYTES = 65_536
_LONGEST_TEXT = 4 * SHOWN_BYTES  # indentation of deep JSON must not blow up a page
_HEX_WIDTH = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadView:
    """kind: json (shown whole), text, binary (hex lines), empty or withheld.

    tree: of JSON, also of its beginning when that is all that is shown. withheld: it is no JSON, so
    the places to hide cannot be found. redacted: how many values of it are hidden, at least.
    """

    kind: str
    content_type: str
    payload_bytes: int
    text: str
    truncated: bool
    redacted: int = 0
    tree: Node | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RawPayload:
    """A payload byte for byte, for a download."""

    content_type: str
    payload: bytes


def of_message(message_id: int) -> PayloadView | None:
    """The payload of a message without what is redacted; None when it is not there (any more).

    Show it to those only who may reveal payloads.
    """
    with reading() as cursor:
        cursor.execute(SQL["shown"], {"id": message_id, "count": SHOWN_BYTES})
        row = cursor.fetchone()
    if row is None:
        return None
    return view(bytes(row[1]), row[0], row[2], redacting.policy(row[3], row[4]))


def raw(message_id: int) -> RawPayload | None:
    """The payload byte for byte, or None."""
    with reading() as cursor:
        cursor.execute(SQL["whole"], {"id": message_id})
        row = cursor.fetchone()
    return None if row is None else RawPayload(content_type=row[0], payload=bytes(row[1]))


def view(payload: bytes, content_type: str, size: int, policy: Policy) -> PayloadView:
    """A view of a payload of `size` bytes, of which at least the first SHOWN_BYTES are given."""
    shown, truncated = payload[:SHOWN_BYTES], size > SHOWN_BYTES
    decoded = _decode(shown, truncated) if shown else None
    kind, text, tree, redacted = "empty", "", None, 0
    if decoded is not None:
        found = policy.find(decoded)
        text, redacted = redacting.text_of(policy, decoded, found), len(found.hidden)
        redacted += text != decoded and not redacted
        tree = _tree(decoded, content_type, found, is_truncated=truncated)
        kind = "text" if tree is None or truncated else "json"
        text = _plain(text) if tree is None or truncated else _indented(tree, text)
        if redacting.is_withheld(policy, found, is_truncated=truncated):
            kind, text, tree, redacted = "withheld", "", None, 1
    elif shown:
        kind, text = ("withheld", "") if policy.pointers else ("binary", _hex(shown))
        redacted = int(kind == "withheld")
    return PayloadView(
        kind=kind,
        content_type=content_type,
        payload_bytes=size,
        text=text,
        truncated=truncated,
        redacted=redacted,
        tree=tree,
    )


def pretty(text: str, redactor: Redactor) -> str:
    """JSON text indented, with its numbers as they stand; text that is no JSON as it is."""
    shown = redactor.json(text)
    try:
        tree = json_text.tree(json_text.parse(shown))
    except (ValueError, RecursionError):
        return _plain(redacting.unmarked(shown))
    return _indented(tree, redacting.unmarked(shown))


def _decode(shown: bytes, truncated: bool) -> str | None:
    """The text, or None when these bytes are none. A character cut at the end is left out."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(shown, final=not truncated)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _tree(text: str, content_type: str, found: Found, *, is_truncated: bool) -> Node | None:
    if "json" not in content_type.lower() and text.lstrip()[:1] not in ("{", "["):
        return None
    if found.is_whole:
        body = redacting.as_json(text, found)
    elif is_truncated and found.is_cut:
        body = redacting.as_beginning(text, found)
    else:
        return None
    try:
        return json_text.tree(json_text.parse(body))
    except (ValueError, RecursionError):
        return None


def _indented(tree: Node, text: str) -> str:
    """Indented JSON; when its indentation outgrows the page, the given text."""
    size, found = 0, []
    for line in json_text.lines(tree):
        size += len(line) + 1
        if size > _LONGEST_TEXT:
            return _plain(text)
        found.append(line)
    return "\n".join(found)


def _plain(text: str) -> str:
    shown = json_text.visible(text)
    return "".join(
        each if each >= " " or each in "\n\t" else f"\\u{ord(each):04x}" for each in shown
    )


def _hex(payload: bytes) -> str:
    found = []
    for start in range(0, len(payload), _HEX_WIDTH):
        part = payload[start : start + _HEX_WIDTH]
        letters = "".join(chr(each) if 32 <= each < 127 else "." for each in part)  # noqa: PLR2004
        found.append(f"{start:08x}  {part.hex(' '):<47}  {letters}")
    return "\n".join(found)
