"""A few scenes, really played: each is clean by itself and shows the bug that is put into it."""

from __future__ import annotations

from typing import Any

import pytest

from proof.mutants import stage
from proof.mutants.outcome import Outcome
from proof.mutants.registry import chosen

CHOICE = ("check then insert", "order by received time", "double requeue")


@pytest.fixture(scope="module")
def results() -> list[dict[str, Any]]:
    return list(stage.play(["--only", *CHOICE], seed=3))


def test_each_bug_is_found_by_the_checker_that_is_meant_for_it(
    results: list[dict[str, Any]],
) -> None:
    found = {each["mutant"]: set(each["caught_by"]) for each in results if each["mutant"]}
    assert set(found) == set(CHOICE)
    for mutant in chosen(CHOICE):
        assert set(mutant.expected) <= found[mutant.name]


def test_the_same_scenes_without_them_are_clean(results: list[dict[str, Any]]) -> None:
    clean = [each for each in results if not each["mutant"]]
    assert [
        (each["scene"], each["found"], each["error"]) for each in clean if not each["is_clean"]
    ] == []
    assert len(clean) == 3
    assert Outcome(results=results, seed=3, seconds=1.0).holds
