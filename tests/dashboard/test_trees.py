"""A payload as a tree: everything has its place, and no payload is too much for a page."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dashboard import trees
from monitor.reports import payloads
from monitor.reports.redacting import OPEN


def _steps(value: Any) -> list[trees.Step]:
    body = (value if isinstance(value, str) else json.dumps(value)).encode()
    tree = payloads.view(body, "application/json", len(body), OPEN).tree
    assert tree is not None
    return trees.steps(tree, "p")


def test_every_value_is_a_leaf_and_every_container_opens_and_closes() -> None:
    found = _steps('{"n": 12345678901234567890123, "a": [1.10, {}], "s": "x"}')
    assert [(each.what, each.name, each.text) for each in found] == [
        ("open", "", ""),
        ("leaf", "n", "12345678901234567890123"),
        ("open", "a", ""),
        ("leaf", "0", "1.10"),
        ("leaf", "1", "{}"),
        ("close", "", ""),
        ("leaf", "s", '"x"'),
        ("close", "", ""),
    ]
    assert [each.id for each in found if each.what == "open"] == ["p", "p-1"]


def test_what_lies_deep_or_is_long_is_folded() -> None:
    found = {each.id: each.is_open for each in _steps({"a": {"b": {"c": 1}}, "l": list(range(30))})}
    assert found["p"]
    assert found["p-0"]
    assert not found["p-0-0"]
    assert not found["p-1"]


@pytest.mark.parametrize(
    "value",
    [
        list(range(10_000)),
        [[n] * 50 for n in range(300)],
        {"deep": json.loads("[" * 150 + "1" + "]" * 150)},
        [{"a": {"b": n}} for n in range(2_000)],
    ],
)
def test_a_page_is_never_too_long_and_says_how_much_is_left(value: Any) -> None:
    found = _steps(value)
    assert len(found) < 3 * trees.MOST_STEPS
    assert any(each.what == "more" and each.count for each in found)
    opens = [each.what for each in found]
    assert opens.count("open") == opens.count("close")


def test_ids_stay_with_their_places() -> None:
    ids = [each.id for each in _steps({"a": {"x": 1}, "a-0": [{"y": 2}]}) if each.id]
    assert len(ids) == len(set(ids))
