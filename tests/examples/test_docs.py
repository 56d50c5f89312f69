"""docs/handlers.md shows the examples' real code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import monitor

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "handlers.md").read_text(encoding="utf-8")
PIECES = re.findall(r"<!-- (\S+) -->\n```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("path", "code"), PIECES, ids=range(len(PIECES)))
def test_a_piece_of_code_stands_in_the_file_it_names(path: str, code: str) -> None:
    assert code in (ROOT / path).read_text(encoding="utf-8")


def test_every_word_of_the_authors_api_is_explained() -> None:
    assert len(PIECES) >= 6
    for name in monitor.__all__:
        assert re.search(rf"\b{name}\b", PAGE), name
