"""The database's disk is full for a while."""

from __future__ import annotations

import time

from proof import history
from proof.nemesis.ground import Ground

_FULL_SECONDS = 3.0
_PATIENCE_SECONDS = 20.0
_WAIT_SECONDS = 0.1


class DiskFull:
    """Take every free block until the server has complained and some seconds more."""

    def strike(self, world: Ground) -> bool:
        """True when the server was refused room. False where its disk cannot be filled."""
        before = world.server.complaints()
        if not world.server.fill_disk():
            return False
        history.write("nemesis", fault="disk_full")
        try:
            is_felt = _felt(world, before)
            if is_felt:
                time.sleep(_FULL_SECONDS)
        finally:
            world.server.free_disk()
            history.write("healed", fault="disk_full")
        return is_felt


def _felt(world: Ground, before: int) -> bool:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if world.server.complaints() > before:
            return True
        time.sleep(_WAIT_SECONDS)
    return False
