"""Steps of the database server's clock.

Back for some seconds, and then an hour ahead of where it was, for good: what was put off by the
fast clock becomes due, as it would on any machine whose clock was put right. A clock that ends
behind its own past would only make everything wait for an hour.
"""

from __future__ import annotations

import time

from proof import history
from proof.nemesis.ground import Ground

HOUR = 3600.0
_BACK_SECONDS = 3.0


class ClockStep:
    """An hour back, and some seconds later two hours ahead."""

    def strike(self, world: Ground) -> bool:
        """True when both steps were made. False where the clock cannot be moved."""
        if not self._step(world, -HOUR):
            return False
        time.sleep(_BACK_SECONDS)
        return self._step(world, 2 * HOUR)

    def _step(self, world: Ground, seconds: float) -> bool:
        if not world.server.step_clock(seconds):
            return False
        history.write("nemesis", fault="clock_steps", seconds=seconds)
        return True
