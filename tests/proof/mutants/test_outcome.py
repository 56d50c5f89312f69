from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from proof import report, verification
from proof.checkers.facts import Violation
from proof.mutants.outcome import FILE, Outcome, shown
from proof.mutants.playing import Part, Played
from proof.mutants.registry import SCENES, chosen
from tests.proof.faultless import Run

(MUTANT,) = chosen(["marker last"])
VIOLATION = Violation(kind="doubles", text="two effects")


def played(**found: list[Violation]) -> Played:
    part = Part(scene=SCENES[MUTANT.scene], mutant=MUTANT)
    return Played(part=part, seconds=1.0, found=found)


def result(scene: str, mutant: str = "", **more: Any) -> dict[str, Any]:
    plain = {
        "rule": "It holds.",
        "seam": "here",
        "caught_by": [],
        "expected": ["ledger"],
        "is_clean": not mutant,
    }
    rest = {"seconds": 1.0, "error": "", "found": {}}
    return {**plain, **rest, "scene": scene, "mutant": mutant, **more}


def outcome(*results: dict[str, Any]) -> Outcome:
    return Outcome(results=results, seed=1, seconds=9.0)


CAUGHT = result("kills", "marker last", caught_by=["ledger"])


def test_a_traceback_alone_is_no_evidence_but_the_scene_is_not_clean() -> None:
    assert played(ledger=[], logs=[VIOLATION]).caught_by == []
    assert not played(ledger=[], logs=[VIOLATION]).is_clean
    assert played(ledger=[VIOLATION], logs=[VIOLATION]).caught_by == ["ledger"]
    assert played(ledger=[], logs=[]).is_clean


def test_a_mutant_counts_only_when_its_scene_is_clean_without_it() -> None:
    assert outcome(result("kills"), CAUGHT).holds
    unclean = outcome(result("kills", is_clean=False), CAUGHT)
    assert (unclean.holds, unclean.escaped) == (False, ["marker last"])
    assert "Not clean without a bug: kills." in unclean.text()
    assert outcome(CAUGHT).escaped == ["marker last"]


def test_what_only_others_complain_of_is_not_found() -> None:
    slow = result("kills", "marker last", caught_by=["liveness", "conservation"])
    assert outcome(result("kills"), slow).escaped == ["marker last"]


def test_one_that_nobody_found_fails_the_whole() -> None:
    found = outcome(result("kills"), CAUGHT, result("kills", "marker first"))
    assert (found.holds, found.escaped) == (False, ["marker first"])
    line = json.loads(found.line())
    assert (line["mutants"], line["mutants_caught"]) == (2, 1)
    assert "MISSED" in shown(found.results[2])
    assert not outcome(result("kills")).holds


def test_the_section_of_the_page_is_replaced_and_stays_when_a_run_is_recorded(
    tmp_path: Path,
) -> None:
    page, run = tmp_path / "verification.md", Run()
    counted = report.count(run.write(tmp_path / "run"))
    missed = outcome(result("kills"), result("kills", "marker last"))
    verification.write_mutants(missed, page=page)
    assert "| marker last | It holds. | `here` | **not found** |" in page.read_text()
    verification.write_mutants(outcome(result("kills"), CAUGHT), page=page)
    verification.write(counted, tmp_path / "run", page=page)
    text = page.read_text()
    assert text.count("## Seeded bugs") == 1
    assert text.count("| marker last | It holds. | `here` | ledger |") == 1
    assert "| messages accepted | 500 |" in text
    assert text.index("## What is counted") < text.index("## Seeded bugs")


def test_mutants_played_beside_a_run_are_figures_of_it_and_one_that_escaped_fails_it(
    tmp_path: Path,
) -> None:
    facts = Run().write(tmp_path)
    assert report.count(facts).figures["mutants"] is None
    line = outcome(result("kills"), CAUGHT, result("kills", "marker first")).line()
    (tmp_path / FILE).write_text(line)
    counted = report.count(facts)
    assert (counted.figures["mutants"], counted.figures["mutants_caught"]) == (2, 1)
    assert "seeded bug not found: marker first" in counted.missed
