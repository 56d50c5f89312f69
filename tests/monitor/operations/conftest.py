"""What scenes declare does not outlive the test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from monitor.engine import registry
from tests.monitor.operations.effect_scenes import PREFIX


@pytest.fixture(autouse=True)
def _forget_consumers_of_scenes() -> Iterator[None]:
    """The registry is left as it was found."""
    yield
    for each in registry.all_consumers():
        if each.name.startswith(PREFIX):
            registry.remove(each.name)
