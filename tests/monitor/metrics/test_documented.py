"""Every metric stands in the documentation with its labels, and nothing else does."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from monitor.domain.states import Cause, DeadReason, State
from monitor.domain.version import VERSION
from monitor.metrics import collector, figures
from tests import factories, factory_figures
from tests.rows import run

ROOT = Path(__file__).parents[3]


def test_docs_and_scrape_name_the_same_metrics_and_labels(db: None) -> None:
    factories.message(factories.consumer())
    factory_figures.snapshot()
    factory_figures.counters(0, name="refused", label="-:unknown_source")
    factory_figures.counters(0, name="ignored", label="shop")
    run("ANALYZE comboio_dedup")
    assert _exported() == _documented()


def test_the_glossary_names_every_state_reason_and_cause() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert [word for word in (*State, *DeadReason, *Cause) if f"\n| {word} |" not in text] == []


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == VERSION


def _exported() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for family in collector.registry(figures.Cache()).collect():
        suffix = {"counter": "_total", "info": "_info"}.get(family.type, "")
        labels = {name for sample in family.samples for name in sample.labels} - {"le"}
        found[family.name + suffix] = labels
    return found


def _documented() -> dict[str, set[str]]:
    text = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(comboio_\w+)` \| ([^|]*)\|", text, re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows}
