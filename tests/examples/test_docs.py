"""The pages for handlers' authors show the examples' real code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import monitor
from monitor import testing
from monitor.testing import Inbox

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "handlers.md").read_text(encoding="utf-8")
HARNESS = (ROOT / "docs" / "testing-handlers.md").read_text(encoding="utf-8")
PIECES = re.findall(r"<!-- (\S+) -->\n```python\n(.*?)```", PAGE + HARNESS, re.DOTALL)


@pytest.mark.parametrize(("path", "code"), PIECES, ids=range(len(PIECES)))
def test_a_piece_of_code_stands_in_the_file_it_names(path: str, code: str) -> None:
    assert code in (ROOT / path).read_text(encoding="utf-8")


def test_every_word_of_the_authors_api_is_explained() -> None:
    assert len(PIECES) >= 6
    for name in monitor.__all__:
        assert re.search(rf"\b{name}\b", PAGE), name


def test_every_word_of_the_harness_is_explained() -> None:
    for name in (*vars(Inbox), *testing.__all__):
        if not name.startswith("_") and name != "faults":
            assert re.search(rf"\b{name}\b", HARNESS), name
