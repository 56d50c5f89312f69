from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from monitor.reports import last_proof
from proof import report as reports
from proof import verification
from proof.checkers.all import CHECKERS
from proof.checkers.facts import Violation
from proof.report import Report
from tests.proof.faultless import PROFILE, Run


def counted(run: Run, folder: Path) -> Report:
    return reports.count(run.write(folder))


def test_a_faultless_run_holds_and_says_how_rare_a_failure_can_be(tmp_path: Path) -> None:
    run = Run()
    run.run["struck"]["worker_kills"] = 9
    found = counted(run, tmp_path)
    assert "in 500 messages: the rate is below 0.006 at 95 % (3/n)." in found.text()
    assert [each for each in found.missed if "messages" not in each] == []
    figures = json.loads(found.line())
    assert (figures["lost"], figures["doubles"], figures["order_violations"]) == (0, 0, 0)
    assert figures["postgres_kills"] is None


def test_a_violation_is_told_with_the_history_of_its_message(tmp_path: Path) -> None:
    run = Run()
    row = run.facts["ledger"][0]
    run.facts["ledger"].append(list(row))
    found = counted(run, tmp_path)
    assert not found.holds
    assert found.figures["doubles"] == 1
    start = next(each for each in run.lines if each.get("id") == row[2])
    assert row[1] in found.text()
    assert str(start["mono_ns"]) in found.text()


def test_a_target_that_was_missed_fails_the_run(tmp_path: Path) -> None:
    run = Run()
    run.run["struck"]["worker_kills"] = 1
    found = counted(run, tmp_path)
    assert f"worker_kills is 1, the profile wants {PROFILE.targets['worker_kills']}" in found.missed
    assert not found.holds


def test_what_a_machine_lacks_fails_the_run_only_where_everything_is_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run()
    run.run["missing"] = ["RabbitMQ is not installed"]
    monkeypatch.delenv("COMBOIO_TEST_REQUIRE_ALL", raising=False)
    assert "RabbitMQ is not installed" not in "".join(counted(run, tmp_path).missed)
    monkeypatch.setenv("COMBOIO_TEST_REQUIRE_ALL", "1")
    assert "RabbitMQ is not installed" in "".join(counted(run, tmp_path).missed)


def test_more_innocents_than_half_a_percent_of_the_kills_fail_the_run(tmp_path: Path) -> None:
    run = Run()
    run.run["struck"]["worker_kills"] = 400
    run.run["innocents"] = 2
    assert not [each for each in counted(run, tmp_path).late if "healthy" in each]
    run.run["innocents"] = 3
    assert [each for each in counted(run, tmp_path).late if "healthy" in each]


def test_the_page_tells_every_figure_and_every_checker(tmp_path: Path) -> None:
    page = verification.text(counted(Run(), tmp_path), "0" * 64)
    assert all(f"| {name} |" in page for name in CHECKERS)
    assert all(f"| {words} |" in page for words in verification.NAMES.values())
    assert "0" * 64 in page


def test_the_page_tells_what_held_from_what_was_only_late(tmp_path: Path) -> None:
    good = replace(counted(Run(), tmp_path), missed=[], late=[])
    late = replace(good, late=["drain_seconds is 31.00, above 30"])
    broken = replace(late, found={"ledger": [Violation(kind="lost", text="gone")]})
    pages = [verification.text(each, "0" * 64) for each in (good, late, broken)]
    assert "**Every promise held.**" in pages[0]
    assert "but late: drain_seconds is 31.00, above 30.**" in pages[1]
    assert "**NOT every promise held.**" in pages[2]


def test_the_console_reads_what_the_page_says(tmp_path: Path) -> None:
    page, found = tmp_path / "verification.md", counted(Run(), tmp_path)
    page.write_text(verification.text(found, "0" * 64))
    told = last_proof.read(page)
    assert told is not None
    assert told.verdict in page.read_text()
    figures = found.figures
    assert (told.profile, told.seed) == (figures["profile"], figures["seed"])
    assert told.commit == figures["commit"]
    page.write_text("# Verification\n")
    assert last_proof.read(page) is None
    assert last_proof.read(tmp_path / "none.md") is None
