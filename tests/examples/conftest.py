"""For the examples' tests: a provider that their charges go to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.payments.charging import PROVIDER_URL
from examples.provider.ledger import Ledger
from examples.provider.server import Provider


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A provider on loopback; its ledger is the file `ledger` in the test's folder."""
    running = Provider(Ledger(tmp_path / "ledger"))
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv(PROVIDER_URL, running.url)
    yield running
    running.shutdown()
    running.server_close()
    running.ledger.close()
