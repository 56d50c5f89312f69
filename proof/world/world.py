"""Everything that a run works on, started and stopped together."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread
from typing import Any

from config.launch import postgres
from config.launch.bootstrap import ROOT
from config.launch.errors import LaunchError
from proof import history
from proof.nemesis.schedule import Nemesis, targets_of
from proof.profiles import PROVIDER_URL, Profile
from proof.workload import sources
from proof.workload.queue import declare
from proof.world.celery import CeleryWorkers
from proof.world.fleet import Fleet
from proof.world.provider import Provider
from proof.world.proxy import CommitProxy
from proof.world.rabbitmq import NOT_INSTALLED, Node
from proof.world.server import Server
from proof.world.web import Web

WORKERS = 4
_DATABASE = "comboio"
_LOOK_SECONDS = 0.2
_PREPARE_SECONDS = 120
_OURS = ("COMBOIO_", "DATABASE_URL", "BROKER_URL", "DJANGO_SETTINGS_MODULE")
_OF_THE_BROKER = ("broker_kills", "child_kills", "parent_kills")


class World:
    """One installation of the product on loopback, and what strikes it.

    Every process of the product reaches the database through the proxy; database_url leads straight
    to the server. What dies by itself is started again, as a supervisor would.
    """

    def __init__(self, folder: Path, seed: int, profile: Profile) -> None:
        """folder: an empty one that another user may pass through."""
        self.folder = folder
        self.server = Server(folder / "pg", log=folder / "postgres.log")
        self.database_url = self.server.url(_DATABASE)
        self.proxy = CommitProxy(folder / "proxy", self.server.sockets, _history(folder))
        self.broker = Node(folder / "rabbitmq") if Node.is_available() else None
        self.environment = self._variables()
        self.provider = Provider(folder, self.environment, seed)
        self.environment[PROVIDER_URL] = self.provider.url
        self.web = Web(folder, self.environment)
        self.fleet = Fleet(folder, self.environment, WORKERS)
        self.celery = (
            CeleryWorkers(folder, self.environment, seed=seed) if self.broker is not None else None
        )
        self._profile = profile
        self._seed = seed
        self._nemesis: Nemesis | None = None
        self._is_over = Event()
        self._mender = Thread(target=self._mend, name="mender", daemon=True)

    @property
    def web_url(self) -> str:
        """Where deliveries are posted."""
        return self.web.url

    @property
    def amqp_url(self) -> str:
        """Where deliveries are published; "" without a broker."""
        return "" if self.broker is None else self.broker.url

    @property
    def ledger(self) -> Path:
        """The provider's own books."""
        return self.provider.ledger

    def start(self) -> None:
        """Start all but the workers; returns when the web answers. LaunchError when it cannot."""
        (self.folder / "comboio.toml").write_text(sources.toml(has_queue=self.broker is not None))
        self.server.start()
        self.proxy.start()
        self._prepare()
        self.provider.start()
        self.web.start()
        if self.broker is not None:
            declare(self.broker.start().url)
        self.web.wait_ready()
        self.provider.wait_ready()

    def strike(self) -> None:
        """From now on messages are worked on, and the faults strike."""
        self.fleet.start()
        if self.celery is not None:
            self.celery.start()
            self.celery.wait_ready()
        self._mender.start()
        wanted = targets_of(self._profile.targets, self._profile.seconds)
        targets = {name: n for name, n in wanted.items() if name not in self.not_possible()}
        self._nemesis = Nemesis(self, targets, seconds=self._profile.seconds, seed=self._seed)
        self._nemesis.start()

    def not_possible(self) -> dict[str, str]:
        """The kinds of faults that cannot be had here, each with the reason in words."""
        found = {"clock_steps": self.server.clock.why_not, "disk_full": self.server.disk.why_not}
        if self.broker is None:
            found |= dict.fromkeys(_OF_THE_BROKER, NOT_INSTALLED)
        return {name: why for name, why in found.items() if why}

    def is_struck_enough(self) -> bool:
        """Whether every fault has hit as often as it shall."""
        return self._nemesis is None or not self._nemesis.missing()

    def heal(self) -> dict[str, Any]:
        """No more faults, and what was broken is mended; how often each kind has hit."""
        if self._nemesis is None:
            return {}
        self._nemesis.stop()
        self.proxy.disarm()
        self.server.free_disk()
        cuts = {f"cut_{kind}": count for kind, count in self.proxy.counts().items()}
        return {**self._nemesis.report(), **cuts, "not_possible": self.not_possible()}

    def stop_workers(self) -> None:
        """Let the workers finish and end."""
        self._is_over.set()
        if self._mender.is_alive():
            self._mender.join()
        self.fleet.stop()
        if self.celery is not None:
            self.celery.stop()

    def stop(self) -> None:
        """End every process; only logs and books are left."""
        with ExitStack() as steps:  # each is done whatever becomes of the others
            ends: list[Callable[[], None]] = [self.server.stop, self.proxy.stop]
            if self.broker is not None:
                ends.append(self.broker.stop)
            ends += [self.provider.stop, self.web.stop, self.stop_workers, self._end_nemesis]
            for end in ends:
                steps.callback(end)

    def _end_nemesis(self) -> None:
        if self._nemesis is not None:
            self._nemesis.stop()

    def _mend(self) -> None:
        while not self._is_over.wait(_LOOK_SECONDS):
            for part in (self.server, self.web, self.provider, self.celery):
                if part is not None and part.mend():
                    history.write("mended", part=type(part).__name__)

    def _prepare(self) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "config.launch.prepare"],
            env={
                **self.environment,
                "COMBOIO_ROLE": "prepare",
                "DATABASE_URL": self.database_url,
            },
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
            timeout=_PREPARE_SECONDS,
        )
        if done.returncode:
            raise LaunchError(f"The database could not be prepared.\n{done.stdout}{done.stderr}")

    def _variables(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        return {
            **kept,
            "DJANGO_SETTINGS_MODULE": "proof.settings",
            "SECRET_KEY": "only-for-this-run-" + "0123456789" * 4,
            "DATABASE_URL": postgres.url(self.proxy.sockets, _DATABASE),
            "BROKER_URL": "memory://" if self.broker is None else self.broker.url,
            "COMBOIO_CONFIG": str(self.folder / "comboio.toml"),
            "COMBOIO_DATA": str(self.folder),
            "COMBOIO_HTTPS": "0",
            "COMBOIO_LOG_LEVEL": "WARNING",
            history.FOLDER: str(_history(self.folder)),
        }


def _history(folder: Path) -> Path:
    return Path(os.environ.get(history.FOLDER) or folder / "history")
