"""One small world for the faults of a file: it costs ten seconds, its idle fleet part of a core."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from proof import history
from tests.proof.world.small import SmallWorld, small_world


@pytest.fixture(scope="module")
def _small() -> Iterator[SmallWorld]:
    with small_world() as made:
        yield made


@pytest.fixture
def world(_small: SmallWorld, monkeypatch: pytest.MonkeyPatch) -> SmallWorld:
    """The world, empty of messages; what the test writes down goes to its history."""
    folder: Path = _small.fresh()
    monkeypatch.setenv(history.FOLDER, str(folder))
    monkeypatch.setattr(history, "_pid", 0)
    return _small
