"""The table of faults and the tests beside it say the same."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from tests.faults.matrix import FAULTS, MATRIX, NOT_BUILT, OUTCOMES, PHASES

_CELL = re.compile(r"test_(p\d\d)_([a-z])_\w")
_MODULE = re.compile(r"test_(p\d\d)_\w+\.py")
_DISTURBING = ("skip", "skipif", "xfail", "long", "by_hand")


def _tests() -> dict[str, str]:
    """Each test of a cell, with the phase that its module is named after."""
    found = {}
    for path in Path(__file__).parent.glob("test_p*.py"):
        module = _MODULE.fullmatch(path.name)
        assert module, f"{path.name} is named after no phase"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                assert node.name not in found, f"{node.name} stands twice"
                found[node.name] = module[1]
    return found


def _cell(name: str) -> tuple[str, str]:
    found = _CELL.match(name)
    assert found, f"{name} is named after no cell"
    return found[1], found[2]


def test_every_cell_has_a_test_named_after_it_or_a_reason_why_not() -> None:
    tested = {_cell(name) for name in _tests()}
    assert sorted(MATRIX.keys() - tested - NOT_BUILT.keys()) == []


def test_every_test_stands_for_a_cell_of_the_table_in_the_module_of_its_phase() -> None:
    tests = _tests()
    assert sorted({_cell(name) for name in tests} - MATRIX.keys()) == []
    assert {name: phase for name, phase in tests.items() if _cell(name)[0] != phase} == {}


def test_a_cell_is_either_tested_or_excused_never_both() -> None:
    assert NOT_BUILT.keys() <= MATRIX.keys()
    assert sorted(NOT_BUILT.keys() & {_cell(name) for name in _tests()}) == []


def test_no_test_of_a_cell_is_left_out_by_a_mark() -> None:
    marked = Counter[str]()
    for path in Path(__file__).parent.glob("test_p*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in _DISTURBING:
                marked[path.name] += 1
    assert marked == {}


def test_the_table_is_written_in_its_own_words() -> None:
    assert {phase for phase, _ in MATRIX} == PHASES.keys()
    assert {fault for _, fault in MATRIX} == FAULTS.keys()
    codes = {code for outcome in MATRIX.values() for code in outcome.split()[0].split("/")}
    assert codes == OUTCOMES.keys()
