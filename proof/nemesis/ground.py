"""What the faults need of the world they strike."""

from __future__ import annotations

from typing import Protocol

from proof.world.fleet import Fleet
from proof.world.proxy import CommitProxy
from proof.world.server import Server


class Broker(Protocol):
    """A broker that is killed and started again."""

    def kill(self) -> float:
        """Seconds until it listens again."""


class Parent(Protocol):
    """A Celery worker, with the children that drain and the receiver that it hosts."""

    @property
    def pid(self) -> int | None:
        """Its process id; None while it is not running."""

    def children(self) -> list[int]:
        """The process ids of its children."""

    def kill(self) -> bool:
        """SIGKILL it with its children and start it again; False when it was not running."""


class Consumers(Protocol):
    """The Celery workers."""

    def some(self) -> Parent:
        """One of them, by chance."""


class Ground(Protocol):
    """A world, or a part of one. broker and celery are None where there are none."""

    server: Server
    proxy: CommitProxy
    fleet: Fleet
    database_url: str  # straight to the server

    @property
    def broker(self) -> Broker | None:
        """The broker."""

    @property
    def celery(self) -> Consumers | None:
        """The Celery workers."""
