"""The explorer of a test: actors, their connections, and a world that is reset."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.interleaving import seam
from tests.interleaving.explorer import Explored, Explorer, Pair
from tests.interleaving.scheduler import Scheduler
from tests.interleaving.world import World


@pytest.fixture
def explorer(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Explorer]:
    """Actors and a world of the test's own; the seed is that of the run (--randomly-seed)."""
    seam.install(monkeypatch)
    world = World()
    scheduler = Scheduler(3, world.side)
    try:
        yield Explorer(world, scheduler, random.getrandbits(32))
    finally:
        scheduler.close()
        world.close()
        seam.close()


@pytest.fixture
def explore(explorer: Explorer) -> Callable[..., Explored]:
    """Runs the schedules of a pair, and says (with -rP) how many there were."""

    def run(pair: Pair[Any], **more: Any) -> Explored:
        explored = explorer(pair, **more)
        kind = "all" if explored.is_all else "sampled"
        print(f"{explored.schedules} schedules ({kind}), longest {explored.longest}")  # noqa: T201
        return explored

    return run
