"""SIGSTOP for longer than a lease: a worker wakes and believes that it still holds its work."""

from __future__ import annotations

import signal
import time
from random import Random

from proof.nemesis.ground import Ground
from proof.nemesis.kills import is_stopped, send, tell
from proof.nemesis.looking import Look

LEASE_SECONDS = 2.0
_LONGER = (1.2, 1.8)  # times a lease


class Pause:
    """Stop one worker that holds work, and who renews its lease; let them go on when it is over."""

    def __init__(
        self, address: str, random: Random, *, lease_seconds: float = LEASE_SECONDS
    ) -> None:
        self._look = Look(address)
        self._random = random
        self._lease = lease_seconds

    def strike(self, world: Ground) -> bool:
        """True when a worker that held work slept longer than a lease, and was alive afterwards."""
        entries = [each for each in world.fleet.entries() if each.is_draining]
        self._random.shuffle(entries)
        # Those inside a handler under a lease first: they are the ones a fence is for.
        entries.sort(key=lambda each: not each.fence)
        return any(self._pause(world, each.pid) for each in entries)

    def close(self) -> None:
        """Close the connection of the look."""
        self._look.close()

    def _pause(self, world: Ground, pid: int) -> bool:
        if is_stopped(pid) or not send(pid, signal.SIGSTOP):
            return False
        stopped, has_slept = [pid], False
        try:
            held = (self._look.held([pid]) or {}).get(pid)
            if held is None:
                return False
            steward = world.fleet.steward()
            if held.leased and steward is not None and send(steward, signal.SIGSTOP):
                stopped.append(steward)
            tell("pauses", victim=pid, held=held)
            time.sleep(self._lease * self._random.uniform(*_LONGER))
            has_slept = is_stopped(pid)
        finally:
            for each in stopped:
                send(each, signal.SIGCONT)
        return has_slept
