"""The demo's fixed set through the whole product: one command, a report, status 0."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests import needs
from tests.config.launch.running import ROOT, bare_environment, free_port

SECONDS = 300  # half a minute on a quiet machine

NODE_MODULES = ROOT / "node_modules" / "@octokit" / "webhooks-examples"


def test_the_fixed_set_ends_with_0_and_nothing_happened_twice_inside_or_outside(
    tmp_path: Path,
) -> None:
    if not NODE_MODULES.exists():
        needs.missing("the npm package @octokit/webhooks-examples is not installed")
    report = tmp_path / "report.json"
    words = ["up", "--demo", "--until-drained", "--report", str(report)]
    words += ["--data", str(tmp_path / "var"), "--port", str(free_port())]
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=bare_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(report.read_text(encoding="utf-8"))
    assert {name: found[name] for name in found["intended"]} == found["intended"]
    faults = ("lost", "doubles", "order_violations", "external_doubles")
    assert [found[name] for name in faults] == [0, 0, 0, 0]
    assert (found["effects_external"], found["in_doubt"]) == (60, 2)
