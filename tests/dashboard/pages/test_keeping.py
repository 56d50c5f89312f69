"""Overview and System say in words how the database keeps what it commits."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from dashboard.keeping import keeping
from monitor.reports.system import Durability
from tests.dashboard import looking
from tests.rows import run


def _line(client: Client, path: str) -> str:
    """The text of the page, the banner of every page left out."""
    markup = looking.Markup(client.get(path).content.decode())
    return " ".join(markup.text.split()).replace("(COMBOIO_UNSAFE_DATABASE)", "")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/system/"])
def test_an_unsafe_database_that_is_admitted_is_named_with_its_settings(
    viewer: Client, path: str
) -> None:
    run("SET LOCAL synchronous_commit = on")
    text = _line(viewer, path)
    assert "runs with fsync = off, full_page_writes = off: it may lose" in text
    assert "COMBOIO_UNSAFE_DATABASE=1 admits it: for tests only." in text


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/system/"])
def test_a_late_commit_of_this_very_session_is_on_the_page(viewer: Client, path: str) -> None:
    run("SET LOCAL synchronous_commit = off")
    assert "synchronous_commit = off" in _line(viewer, path)


def test_a_database_that_only_commits_late_may_lose_the_last_second() -> None:
    found = keeping(Durability(version=18, off=("synchronous_commit",)))
    assert found.tone == "caution"
    assert found.text.startswith("PostgreSQL 18 runs with synchronous_commit = off:")
    assert "COMBOIO_UNSAFE_DATABASE" not in found.text


def test_a_durable_database_is_a_quiet_line() -> None:
    found = keeping(Durability(version=18, off=()))
    assert (found.tone, "keeps what it commits" in found.text) == ("go", True)


def test_what_was_turned_off_after_the_start_is_said_to_refuse_the_next(
    settings: Settings,
) -> None:
    settings.COMBOIO_UNSAFE_DATABASE = False
    found = keeping(Durability(version=18, off=("fsync",)))
    assert found.tone == "stop"
    assert "The next start of a process will be refused" in found.text
