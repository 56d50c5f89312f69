"""SIGKILL of the whole PostgreSQL server."""

from __future__ import annotations

from proof import history
from proof.nemesis.ground import Ground


class DatabaseKill:
    """Kill every process of the server; it is started again as its supervisor would."""

    def strike(self, world: Ground) -> bool:
        """True when it is back."""
        history.write("nemesis", fault="postgres_kills")
        seconds = world.server.kill()
        history.write("healed", fault="postgres_kills", seconds=seconds)
        return True
