"""SIGKILL of the whole PostgreSQL server."""

from __future__ import annotations

from proof import history
from proof.nemesis.ground import Ground


class DatabaseKill:
    """Kill every process of the server; it is started again as its supervisor would."""

    def strike(self, world: Ground) -> bool:
        """True when it is back. False: its disk is full, so it could not come back."""
        if world.server.disk.is_full:
            return False
        history.write("nemesis", fault="postgres_kills")
        seconds = world.server.kill()
        history.write("healed", fault="postgres_kills", seconds=seconds)
        return True
