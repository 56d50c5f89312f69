"""A payload as a person reads it: exact numbers, no control characters, never more than 64 kB."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from monitor.reports import json_text
from monitor.reports.json_text import Node
from monitor.reports.reading import reading
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
    """kind: json, text, binary (hex lines) or empty. tree only for JSON that is shown whole."""

    kind: str
    content_type: str
    payload_bytes: int
    text: str
    truncated: bool
    tree: Node | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RawPayload:
    """A payload byte for byte, for a download."""

    content_type: str
    payload: bytes


def of_message(message_id: int) -> PayloadView | None:
    """The payload of a message; None when it is not there (any more). Show it to revealers only."""
    with reading() as cursor:
        cursor.execute(SQL["shown"], {"id": message_id, "count": SHOWN_BYTES})
        row = cursor.fetchone()
    return None if row is None else view(bytes(row[1]), row[0], row[2])


def raw(message_id: int) -> RawPayload | None:
    """The payload byte for byte, or None."""
    with reading() as cursor:
        cursor.execute(SQL["whole"], {"id": message_id})
        row = cursor.fetchone()
    return None if row is None else RawPayload(content_type=row[0], payload=bytes(row[1]))


def view(payload: bytes, content_type: str, size: int) -> PayloadView:
    """A view of a payload of `size` bytes, of which at least the first SHOWN_BYTES are given."""
    shown, truncated = payload[:SHOWN_BYTES], size > SHOWN_BYTES
    kind, text, tree = "empty", "", None
    if shown:
        decoded = _decode(shown, truncated)
        if decoded is None:
            kind, text = "binary", _hex(shown)
        else:
            tree = None if truncated else _tree(decoded, content_type)
            kind = "text" if tree is None else "json"
            text = _plain(decoded) if tree is None else _indented(tree, decoded)
    return PayloadView(
        kind=kind,
        content_type=content_type,
        payload_bytes=size,
        text=text,
        truncated=truncated,
        tree=tree,
    )


def pretty(text: str) -> str:
    """JSON text indented, with its numbers as they stand; text that is no JSON as it is."""
    tree = _tree(text, "application/json")
    return _plain(text) if tree is None else _indented(tree, text)


def _decode(shown: bytes, truncated: bool) -> str | None:
    """The text, or None when these bytes are none. A character cut at the end is left out."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(shown, final=not truncated)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _tree(text: str, content_type: str) -> Node | None:
    if "json" not in content_type.lower() and text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json_text.tree(json_text.parse(text))
    except (ValueError, RecursionError):
        return None


def _indented(tree: Node, text: str) -> str:
    """Indented JSON; when its indentation outgrows the page, the text as it came."""
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
