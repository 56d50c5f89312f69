"""A payload as a person reads it: exact numbers, no control characters, never more than 64 kB."""

from __future__ import annotations

from dataclasses import dataclass

SHOWN_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One value of a JSON payload. name: member name or index, "" for the root.

    kind: object, array, string, number, true, false or null. text: the value as JSON text (numbers
    exactly as sent); for objects and arrays the number of their members.
    """

    name: str
    kind: str
    text: str
    children: tuple[Node, ...] = ()


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
    raise NotImplementedError


def raw(message_id: int) -> RawPayload | None:
    """The payload byte for byte, or None."""
    raise NotImplementedError


def view(payload: bytes, content_type: str, size: int) -> PayloadView:
    """A view of a payload of `size` bytes, of which at least the first SHOWN_BYTES are given."""
    raise NotImplementedError
