from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from proof.mutants import registry
from proof.mutants.mutant import MOST_LINES, Mutant, SeamError, put, swap
from proof.mutants.registry import MUTANTS, SCENES

ROOT = Path(__file__).parents[3]
NAMES = [each.name for each in MUTANTS]
# Each bug is put into a copy of this process that does nothing else.
APPLY_ALL = """
import os, django
django.setup()
from proof.mutants.registry import MUTANTS
for each in MUTANTS:
    pid = os.fork()
    if not pid:
        each.apply()
        os._exit(0)
    print(each.name, os.waitpid(pid, 0)[1], sep=":")
"""


def test_there_are_more_than_fifteen_and_each_has_a_name_of_its_own() -> None:
    assert len(set(NAMES)) == len(MUTANTS) >= 16


@pytest.mark.parametrize("mutant", MUTANTS, ids=NAMES)
def test_a_mutant_is_small_and_says_what_it_breaks(mutant: Mutant) -> None:
    assert 1 <= mutant.lines() <= MOST_LINES
    assert mutant.rule.endswith(".")
    assert mutant.scene in SCENES
    assert set(mutant.expected) <= set(SCENES[mutant.scene].checks)


def test_every_scene_has_a_mutant() -> None:
    assert {each.scene for each in MUTANTS} == set(SCENES)


def test_every_mutant_still_fits_the_product() -> None:
    done = subprocess.run(
        [sys.executable, "-c", APPLY_ALL],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.splitlines() == [f"{name}:0" for name in NAMES], done.stderr


def test_a_seam_that_is_gone_is_told() -> None:
    with pytest.raises(SeamError):
        swap({"claim": "SELECT 1"}, "claim", "SELECT 2", "")
    with pytest.raises(SeamError):
        put(registry, "no_such_name", None)


def test_turns_come_round_to_every_mutant() -> None:
    turns = [registry.rotated(5, turn) for turn in range(len(MUTANTS))]
    assert all(len(set(names)) == 5 for names in turns)
    assert {name for names in turns for name in names} == set(NAMES)
    assert registry.rotated(5, 0) != registry.rotated(5, 1)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(registry.UnknownMutantError, match="marker first"):
        registry.chosen(["marker frist"])


def test_nothing_of_the_product_imports_the_proof() -> None:
    files = [
        path for part in ("monitor", "dashboard", "config") for path in ROOT.glob(f"{part}/**/*.py")
    ]
    found = [path for path in files if "proof" in {name.split(".")[0] for name in imported(path)}]
    assert len(files) > 100
    assert found == []


def imported(path: Path) -> set[str]:
    """The modules that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names
