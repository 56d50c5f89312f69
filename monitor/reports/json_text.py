"""JSON as text for people: numbers stay as they were sent, nothing invisible is let through."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from monitor.reports import redacting

DEEPEST = 200  # ingest refuses bodies deeper than 100; what brokers set aside may be deeper


class Number(str):
    """A number exactly as it was written."""

    __slots__ = ()


class Members(list[tuple[str, Any]]):
    """The members of an object in their order; a name may stand twice."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One value of a JSON payload. name: its member (escaped as in JSON) or index; "" is the root.

    kind: object, array, string, number, true, false, null or redacted. text: the value as JSON text
    (numbers exactly as sent), a label for a redacted one; for objects and arrays the number of
    their members.
    """

    name: str
    kind: str
    text: str
    children: tuple[Node, ...] = ()


# Controls, bidirectional marks, line separators, lone surrogates: shown as JSON escapes.
_INVISIBLE = re.compile(
    "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def parse(text: str) -> Any:
    """The value, with Number and Members inside. Raises ValueError for anything but strict JSON."""
    try:
        return json.loads(
            text,
            parse_int=Number,
            parse_float=Number,
            parse_constant=_refuse,
            object_pairs_hook=Members,
        )
    except RecursionError as error:
        raise ValueError("nested too deep to be shown as a tree") from error


def quoted(text: str) -> str:
    """A string as JSON text in which everything can be seen."""
    return visible(json.dumps(text, ensure_ascii=False))


def visible(text: str) -> str:
    """The text with what cannot be seen replaced by JSON escapes."""
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def tree(value: Any, name: str = "", depth: int = 0) -> Node:
    """The value as nodes. Raises ValueError when it is nested deeper than DEEPEST."""
    if depth > DEEPEST:
        raise ValueError("nested too deep to be shown as a tree")
    if isinstance(value, Members):
        members = tuple(tree(each, quoted(key)[1:-1], depth + 1) for key, each in value)
        return Node(name=name, kind="object", text=str(len(members)), children=members)
    if isinstance(value, list):
        items = tuple(tree(each, str(index), depth + 1) for index, each in enumerate(value))
        return Node(name=name, kind="array", text=str(len(items)), children=items)
    return Node(name=name, kind=_kind(value), text=scalar(value))


def scalar(value: Any) -> str:
    """A string, number, true, false or null as JSON text."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return visible(redacting.unmarked(value)) if redacting.is_marked(value) else quoted(value)
    return {None: "null", True: "true", False: "false"}[value]


def lines(node: Node, indent: str = "", lead: str = "", end: str = "") -> Iterator[str]:
    """The node as indented JSON, line by line."""
    if not node.children:
        empty = {"object": "{}", "array": "[]"}
        yield f"{indent}{lead}{empty.get(node.kind, node.text)}{end}"
        return
    opening, closing = ("{", "}") if node.kind == "object" else ("[", "]")
    yield f"{indent}{lead}{opening}"
    last = len(node.children) - 1
    for index, child in enumerate(node.children):
        label = f'"{child.name}": ' if node.kind == "object" else ""
        yield from lines(child, indent + "  ", label, "" if index == last else ",")
    yield f"{indent}{closing}{end}"


def compact(value: Any) -> Iterator[str]:
    """The parts of the value as JSON text in one line."""
    if isinstance(value, Members):
        for index, (name, each) in enumerate(value):
            yield f"{', ' if index else '{'}{quoted(name)}: "
            yield from compact(each)
        yield "}" if value else "{}"
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield ", " if index else "["
            yield from compact(each)
        yield "]" if value else "[]"
    else:
        yield scalar(value)


def _kind(value: Any) -> str:
    if isinstance(value, Number):
        return "number"
    if isinstance(value, str):
        return "redacted" if redacting.is_marked(value) else "string"
    return scalar(value)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
