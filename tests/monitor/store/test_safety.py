"""A database that could forget is refused, in words."""

from __future__ import annotations

import pytest

from monitor.domain.errors import ConfigurationError
from monitor.store import safety

pytestmark = pytest.mark.django_db


class _Cursor:
    """Answers as a server with these settings would."""

    def __init__(self, *answer: object) -> None:
        self._answer = answer

    def execute(self, *_: object) -> None:
        return None

    def fetchone(self) -> tuple[object, ...]:
        return self._answer


def _faults(*answer: object) -> list[str]:
    return safety.faults(_Cursor(*answer))  # type: ignore[arg-type]


def test_a_durable_database_has_no_faults() -> None:
    assert _faults(150_004, "on", "on", "on") == []
    assert _faults(180_006, "on", "on", "remote_apply") == []


@pytest.mark.parametrize("place", [0, 1, 2])
def test_each_setting_that_can_lose_a_commit_is_named_with_its_change(place: int) -> None:
    values = ["on", "on", "on"]
    values[place] = "off"
    name = ("fsync", "full_page_writes", "synchronous_commit")[place]
    (fault,) = _faults(180_006, *values)
    assert f"Set {name} = on" in fault


def test_an_old_server_is_named() -> None:
    (fault,) = _faults(140_011, "on", "on", "on")
    assert "PostgreSQL 14; version 15 or later" in fault


def test_the_test_server_is_refused_without_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(safety.UNSAFE_VARIABLE)
    with pytest.raises(ConfigurationError, match="fsync = off"):
        safety.require_safe_database()


def test_the_test_server_is_admitted_with_its_variable() -> None:
    safety.require_safe_database()
