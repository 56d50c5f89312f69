"""Each promise of docs/promises.md names tests, and they are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
HELD = re.findall(r"^- \*\*(G\d+) .*?\*\((.*?)\)\*", PAGE, re.DOTALL | re.MULTILINE)
NAMED = [(promise, path) for promise, paths in HELD for path in paths.split(", ")]


def test_every_promise_is_there_once() -> None:
    assert [promise for promise, _ in HELD] == [f"G{n}" for n in range(1, 11)]
    assert re.findall(r"^- \*\*(N\d)\*\*", PAGE, re.MULTILINE) == [f"N{n}" for n in range(1, 10)]


@pytest.mark.parametrize(("promise", "path"), NAMED, ids=[f"{p}-{path}" for p, path in NAMED])
def test_the_tests_that_hold_a_promise_are_there(promise: str, path: str) -> None:
    place = ROOT / path
    files = [place] if place.suffix else sorted(place.rglob("test_*.py"))
    assert files, promise
    assert any("def test_" in each.read_text(encoding="utf-8") for each in files), promise
