"""Health as machines ask for it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from monitor import health
from tests import factory_figures


def test_healthz_asks_nobody(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("lives", [True, False])
def test_readyz_tells_whether_a_worker_lives_and_is_ready_without(
    db: None, client: Client, lives: bool
) -> None:
    factory_figures.worker(seconds_ago=0 if lives else 60)
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ready",
        "database": True,
        "migrated": True,
        "worker": lives,
    }


def test_readyz_is_503_without_a_database(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> Any:
        raise OperationalError("away")

    monkeypatch.setattr(health, "_is_migrated", away)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["database"]) == (503, False)


def test_readyz_is_503_before_the_migrations(
    db: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_is_migrated", lambda: False)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["migrated"]) == (503, False)
