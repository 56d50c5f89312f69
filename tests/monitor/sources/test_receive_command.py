"""./manage.py receive NAME."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings as DjangoSettings

from monitor.domain.errors import ConfigurationError
from monitor.domain.settings import Settings
from monitor.sources import receiver
from tests.monitor.sources.letters import amqp_source
from tests.monitor.sources.receivers import Process
from tests.rabbitmq import Queue
from tests.waiting import wait_until

SOURCES = {
    "sources": {
        "orders": {"kind": "amqp", "url_env": "TEST_AMQP_URL", "queue": "orders"},
        "refunds": {"kind": "amqp", "url_env": "TEST_AMQP_URL", "queue": "refunds"},
        "web": {"kind": "http", "format": "cloudevents", "unsigned": True},
    }
}


@pytest.mark.parametrize("name", ["order", "web", ""])
def test_an_unknown_name_lists_the_known_ones(settings: DjangoSettings, name: str) -> None:
    settings.COMBOIO = SOURCES
    with pytest.raises(CommandError, match="known: orders, refunds"):
        call_command("receive", name)


@pytest.mark.parametrize("address", ["", "redis://127.0.0.1", "127.0.0.1"])
def test_an_address_that_is_none_is_refused_naming_the_variable(
    settings: DjangoSettings, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    settings.COMBOIO = SOURCES
    monkeypatch.setenv("TEST_AMQP_URL", address)
    with pytest.raises(CommandError, match="TEST_AMQP_URL"):
        call_command("receive", "orders")


@pytest.mark.django_db(transaction=True)
def test_sigterm_ends_it_cleanly(queue: Queue, tmp_path: Path, database_url: str) -> None:
    process = Process(queue, tmp_path, database_url)
    try:
        wait_until(lambda: queue.consumers() == 1, 30, what="a receiver at work")
        assert process.stop() == 0
    finally:
        process.close()
    assert queue.consumers() == 0


def test_workers_host_the_sources_that_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_AMQP_URL", "amqp://127.0.0.1:1")
    sources = [amqp_source(name="here"), amqp_source(name="elsewhere", hosted=False)]
    threads = receiver.threads(Settings(sources={each.name: each for each in sources}), Event())
    assert [each.name for each in threads] == ["receiver here"]
    assert not threads[0].is_alive()


def test_a_hosted_source_without_address_refuses_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_AMQP_URL", raising=False)
    with pytest.raises(ConfigurationError, match=r"sources\.payments\.url_env"):
        receiver.threads(Settings(sources={"payments": amqp_source()}), Event())
