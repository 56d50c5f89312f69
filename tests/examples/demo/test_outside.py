from __future__ import annotations

import socket

import pytest

from examples.demo import outside
from examples.demo.send import NotAnsweredError
from examples.payments.charging import PROVIDER_URL
from examples.provider.server import Provider


def test_a_charge_that_happened_twice_is_one_too_many() -> None:
    figures = outside.figures(["a", "b", "c"], {"a": 1, "b": 3, "of another run": 9})
    assert figures == {"effects_external": 2, "external_doubles": 2}


def test_the_providers_own_ledger_is_asked(provider: Provider) -> None:
    for key in ("a", "b", "b"):
        provider.ledger.act("neither", key, {"amount_cents": 1})
    assert outside.charged() == {"a": 1, "b": 2}


def test_without_a_provider_nothing_is_asked_and_one_that_is_silent_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(PROVIDER_URL, raising=False)
    assert outside.charged() == {}
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv(PROVIDER_URL, f"http://127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(NotAnsweredError, match="No ledger"):
            outside.charged()
