"""SIGKILL of the broker."""

from __future__ import annotations

from proof import history
from proof.nemesis.ground import Ground


class BrokerKill:
    """Kill the broker's node; it is started again as its supervisor would."""

    def strike(self, world: Ground) -> bool:
        """True when it is back. False where there is no broker."""
        if world.broker is None:
            return False
        history.write("nemesis", fault="broker_kills")
        seconds = world.broker.kill()
        history.write("healed", fault="broker_kills", seconds=seconds)
        return True
