"""A deploy: the first sight of another release, noted once, whoever sees it."""

from __future__ import annotations

import pytest
from django.db import connection

from monitor import conf
from monitor.domain.version import VERSION
from monitor.store import workers
from tests.racing import race
from tests.rows import rows, run

pytestmark = pytest.mark.django_db(transaction=True)
NOTED = "SELECT release, previous FROM comboio_deploy ORDER BY id"


def _start(release: str) -> int:
    with connection.cursor() as cursor:
        return workers.register(cursor, "worker", release)


def _rest() -> None:
    """As if all that happened so far was an hour ago, and every process of it is gone."""
    run("UPDATE comboio_deploy SET at = at - interval '1 h'")
    run("UPDATE comboio_worker SET at = at - interval '1 h', started_at = at - interval '1 h'")


def test_many_processes_of_a_release_note_it_once() -> None:
    for _ in range(3):
        _start("1")
    assert rows(NOTED) == [("1", 0)]


def test_another_release_is_noted_after_the_one_before() -> None:
    _start("1")
    _rest()
    _start("2")
    _start("2")
    assert rows(NOTED) == [("1", 0), ("2", 1)]


def test_racing_first_sights_note_one_deploy() -> None:
    _start("1")
    _rest()
    answers = race(*[lambda: _start("2")] * 8)
    assert all(isinstance(each, int) for each in answers), answers
    assert rows(NOTED) == [("1", 0), ("2", 1)]


def test_a_restart_within_a_rolling_deploy_notes_nothing() -> None:
    _start("1")
    run("UPDATE comboio_worker SET started_at = started_at - interval '1 h'")
    run("UPDATE comboio_deploy SET at = at - interval '1 h'")
    _start("2")
    _start("1")  # a child of a worker that is still to be replaced
    assert rows(NOTED) == [("1", 0), ("2", 1)]


def test_a_release_that_comes_back_is_a_deploy_again() -> None:
    for release in ("1", "2", "1"):
        _start(release)
        _rest()
    assert rows(NOTED) == [("1", 0), ("2", 1), ("1", 2)]


def test_the_release_is_the_deployers_word_else_our_version(settings: object) -> None:
    settings.COMBOIO_RELEASE = ""  # type: ignore[attr-defined]
    assert conf.release() == VERSION
    settings.COMBOIO_RELEASE = "2026-07-01 abc"  # type: ignore[attr-defined]
    assert conf.release() == "2026-07-01 abc"
