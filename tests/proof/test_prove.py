"""The smallest run of all, through the whole product, and its count from the files alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proof.report import FAULTS

ROOT = Path(__file__).parents[2]
SECONDS = 400  # half a minute on a quiet machine; a busy one gets more
OF_THE_TEST_RUN = ("COMBOIO_UNSAFE_DATABASE", "DATABASE_URL", "DJANGO_SETTINGS_MODULE")


def prove(*words: str) -> dict[str, Any]:
    environment = {n: v for n, v in os.environ.items() if n not in OF_THE_TEST_RUN}
    done = subprocess.run(
        [sys.executable, "manage.py", "prove", *words, "--json"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode in (0, 1), done.stderr
    line: dict[str, Any] = json.loads(done.stdout)
    assert line["holds"] == (done.returncode == 0)
    return line


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="comboio-prove-"))
    made.chmod(0o711)  # PostgreSQL may run as another user.
    yield made / "run"
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def line(folder: Path) -> dict[str, Any]:
    return prove("--profile", "smoke", "--seed", "2", "--keep", str(folder))


def test_nothing_is_lost_doubled_or_out_of_order(line: dict[str, Any]) -> None:
    assert {name: line[name] for name in FAULTS} == dict.fromkeys(FAULTS, 0)
    assert line["violations"] == 0
    assert line["messages"] == 2000
    assert line["duplicates"] >= 400


def test_workers_and_the_database_were_killed_meanwhile(line: dict[str, Any]) -> None:
    # When a strike comes is chance: the last one may come after the last message is done.
    assert line["worker_kills"] >= 4
    assert line["worker_kills"] + line["postgres_kills"] + line["child_kills"] >= 6


def test_a_kept_run_is_counted_again_from_its_files(line: dict[str, Any], folder: Path) -> None:
    assert prove("--check", str(folder)) == line


def test_what_is_taken_out_of_a_kept_run_is_missed(line: dict[str, Any], folder: Path) -> None:
    ledger = folder / "facts" / "ledger.jsonl"
    rows = ledger.read_text().splitlines(keepends=True)
    ledger.write_text("".join(rows[2:]))
    try:
        assert prove("--check", str(folder))["lost"] == 1
    finally:
        ledger.write_text("".join(rows))
