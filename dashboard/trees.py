"""A payload as a tree to fold and unfold: its nodes one after the other, for a template's loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from monitor.reports.payloads import Node

MOST_STEPS = 1_500  # of a page that is read again every two seconds
_MOST_CHILDREN = 100
_DEEPEST = 40
_OPEN_DEPTH = 2
_OPEN_CHILDREN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the walk. what: open, close, leaf, or more (children that are not shown).

    kind, name and text: see Node. id: stays with its place in the payload.
    """

    what: str
    id: str = ""
    name: str = ""
    kind: str = ""
    text: str = ""
    count: int = 0
    is_open: bool = False


def steps(root: Node, name: str) -> list[Step]:
    """The tree from its root on; what is too much for a page is only counted."""
    return list(_walk(root, name, 0, [MOST_STEPS]))


def _walk(node: Node, place: str, depth: int, left: list[int]) -> Iterator[Step]:
    left[0] -= 1
    if not node.children:
        empty = {"object": "{}", "array": "[]"}.get(node.kind, node.text)
        yield Step(what="leaf", name=node.name, kind=node.kind, text=empty)
        return
    total = len(node.children)
    yield Step(
        what="open",
        id=place,
        name=node.name,
        kind=node.kind,
        count=total,
        is_open=depth == 0 or (depth < _OPEN_DEPTH and total <= _OPEN_CHILDREN),
    )
    shown = 0
    for index, child in enumerate(node.children[:_MOST_CHILDREN]):
        if depth >= _DEEPEST or left[0] <= 0:
            break
        yield from _walk(child, f"{place}-{index}", depth + 1, left)
        shown += 1
    if shown < total:
        yield Step(what="more", count=total - shown)
    yield Step(what="close")
