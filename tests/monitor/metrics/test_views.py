"""Who may read /metrics, and in which format."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from monitor.metrics import collector, figures, views

TOKEN = "s3cret-é"  # noqa: S105 - only of this test


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """No figures cached by another test."""
    monkeypatch.setattr(views, "REGISTRY", collector.registry())


@pytest.mark.parametrize("method", ["get", "head"])
def test_this_machine_may_read_without_a_token(db: None, client: Client, method: str) -> None:
    answer = getattr(client, method)("/metrics")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert (b"comboio_database_up 1.0" in answer.content) == (method == "get")


@pytest.mark.parametrize(
    "more",
    [
        {"REMOTE_ADDR": "10.0.0.7"},
        {"REMOTE_ADDR": ""},
        {"headers": {"X-Forwarded-For": "127.0.0.1"}},
        {"headers": {"Forwarded": "for=127.0.0.1"}},
        {"headers": {"X-Real-IP": "127.0.0.1"}},
    ],
)
def test_without_a_token_others_and_proxied_callers_are_refused(
    client: Client, more: dict[str, Any]
) -> None:
    answer = client.get("/metrics", **more)
    assert answer.status_code == 403
    assert b"COMBOIO_METRICS_TOKEN" in answer.content


@pytest.mark.parametrize("method", ["get", "head"])
@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer wrong", "Basic s3cret-é", "Bearer é"]
)
def test_with_a_token_configured_nothing_else_opens(
    client: Client, settings: Any, method: str, given: str | None
) -> None:
    settings.COMBOIO_METRICS_TOKEN = TOKEN
    headers = {} if given is None else {"Authorization": given}
    answer = getattr(client, method)("/metrics", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_the_token_opens_from_anywhere(db: None, client: Client, settings: Any) -> None:
    settings.COMBOIO_METRICS_TOKEN = TOKEN
    answer = client.get(
        "/metrics", headers={"Authorization": f"Bearer {TOKEN}"}, REMOTE_ADDR="10.0.0.7"
    )
    assert answer.status_code == 200


def test_a_scraper_that_asks_for_openmetrics_gets_it(db: None, client: Client) -> None:
    accept = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2"
    answer = client.get("/metrics", headers={"Accept": accept})
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
    assert answer.content.endswith(b"# EOF\n")


@pytest.mark.parametrize("accept", ["text/plain;version=x", "*/*", "application/json", ";;;="])
def test_odd_wishes_get_plain_text(db: None, client: Client, accept: str) -> None:
    answer = client.get("/metrics", headers={"Accept": accept})
    assert (answer.status_code, answer.headers["Content-Type"][:10]) == (200, "text/plain")


def test_without_a_database_it_is_200_and_says_down(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> Any:
        raise OperationalError("away")

    monkeypatch.setattr(views, "REGISTRY", collector.registry(figures.Cache(away)))
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert b"comboio_database_up 0.0" in answer.content
    assert b"comboio_snapshot_errors_total 1.0" in answer.content


def test_it_cannot_be_posted_to(client: Client) -> None:
    assert client.post("/metrics").status_code == 405
