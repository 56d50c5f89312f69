"""Parts that the tests of the sources share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from monitor.domain.consumer import Consumer
from monitor.engine import directory, registry


@pytest.fixture
def taker() -> Iterator[Consumer]:
    """A consumer that takes every message of the source “inbound”."""
    consumer = Consumer(name="inbound.take", source="inbound", handler=lambda payload: None)
    registry.add(consumer)
    directory.forget()
    yield consumer
    registry.remove(consumer.name)
    directory.forget()
