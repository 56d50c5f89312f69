"""System: what it says of the books, the last proof, clocks, upkeep, and of what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client

from tests import factories, factory_figures
from tests.dashboard import looking
from tests.rows import run

pytestmark = pytest.mark.django_db
SOURCE = {"kind": "http", "format": "json", "key": "id", "unsigned": True}
LINE = "**Every promise held.** Profile `ci`, seed 7, commit `abc123`, 2026-07-01."


def _text(client: Client) -> str:
    response = client.get("/system/")
    assert response.status_code == 200
    return " ".join(looking.Markup(response.content.decode()).text.split())


def test_a_proof_is_told_as_it_was_recorded(
    viewer: Client, settings: LazySettings, tmp_path: Path
) -> None:
    settings.BASE_DIR = tmp_path
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "verification.md").write_text(f"# Verification\n\n{LINE}\n")
    text = _text(viewer)
    for part in ("Every promise held.", "Profile ci, seed 7, of commit abc123, 2026-07-01"):
        assert part in text


def test_without_a_record_no_proof_is_claimed(
    viewer: Client, settings: LazySettings, tmp_path: Path
) -> None:
    settings.BASE_DIR = tmp_path
    text = _text(viewer)
    assert "No proof is recorded here." in text
    assert "held" not in text


def test_a_clock_that_differs_is_named(viewer: Client) -> None:
    factory_figures.worker()
    assert "All clocks agree" in _text(viewer)
    run("UPDATE comboio_worker SET skew_seconds = -95.2")
    text = _text(viewer)
    assert "The clock of worker 7, host-1 differs from the database's by \u221295.2 s" in text


def test_a_process_that_is_gone_has_no_clock(viewer: Client) -> None:
    factory_figures.worker(seconds_ago=60)
    run("UPDATE comboio_worker SET skew_seconds = -95.2")
    assert "All clocks agree" in _text(viewer)


def test_tables_tell_their_dead_rows_and_partitions(viewer: Client) -> None:
    factories.message(factories.consumer())
    text = _text(viewer)
    for part in ("Dead rows", "Vacuumed", "Analysed", "comboio_message_default", "DEFAULT"):
        assert part in text


def test_each_source_tells_its_margin(viewer: Client, settings: LazySettings) -> None:
    settings.COMBOIO = {
        "sources": {
            "wide": SOURCE | {"message_ttl_seconds": 3_600},
            "thin": SOURCE | {"message_ttl_seconds": 1_150_000},
        }
    }
    text = _text(viewer)
    assert "wide" in text
    assert text.count("thin: raise retention.dedup_days") == 1
