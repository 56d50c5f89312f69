"""Connections that are cut at a COMMIT."""

from __future__ import annotations

import time
from random import Random

from proof.nemesis.ground import Ground
from proof.world.proxy import Cut

# Who hangs works on nothing until its watchdog frees it, so few do, and one at a time: all workers
# would hang at once now and then, and nobody be left to go on.
WEIGHTS = {Cut.BEFORE: 8, Cut.RACE: 8, Cut.AFTER: 8, Cut.HANG: 1}
_PATIENCE_SECONDS = 5.0
_WAIT_SECONDS = 0.01


class CommitCut:
    """Cut the next COMMIT of a transaction that wrote, in one of the ways given."""

    def __init__(self, random: Random, kinds: tuple[Cut, ...] = tuple(Cut)) -> None:
        self._random = random
        self._kinds = kinds
        self._open = 0  # ordered, and not yet done

    def strike(self, world: Ground) -> bool:
        """True when one was cut; an order that finds no COMMIT stays for the next strike."""
        done = len(world.proxy.cuts())
        if not self._open:
            world.proxy.arm(self._choose(world))
            self._open = 1
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if len(world.proxy.cuts()) > done:
                self._open = 0
                return True
            time.sleep(_WAIT_SECONDS)
        return False

    def _choose(self, world: Ground) -> Cut:
        hangs = world.proxy.counts()[Cut.HANG] > len(world.proxy.freed())
        kinds = [kind for kind in self._kinds if not hangs or kind is not Cut.HANG]
        return self._random.choices(kinds, [WEIGHTS[kind] for kind in kinds])[0]
