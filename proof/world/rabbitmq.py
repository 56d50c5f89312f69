"""A RabbitMQ node of our own: its own ports on loopback, its own folder, ended by its pid."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Self

from config.launch.errors import LaunchError
from config.launch.process import kill_group, spawn
from proof.world import keeper

SCRIPTS = Path("/usr/lib/rabbitmq/bin")
NOT_INSTALLED = "RabbitMQ is not installed (apt-get install rabbitmq-server)"
_START_SECONDS = 90.0
_STOP_SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where the node lives."""

    folder: Path
    name: str
    port: int
    environment: dict[str, str]


class Node:
    """One node, from start() to stop()."""

    def __init__(self, folder: Path) -> None:
        """folder: its own, which is made."""
        folder.mkdir(parents=True, exist_ok=True)
        self._place = _prepare(folder)
        self._lock = Lock()
        self._names: subprocess.Popen[bytes] | None = None
        self._server: subprocess.Popen[bytes] | None = None

    @staticmethod
    def is_available() -> bool:
        """Whether RabbitMQ is installed here."""
        return (SCRIPTS / "rabbitmq-server").exists() and shutil.which("epmd") is not None

    @property
    def port(self) -> int:
        """Its port for clients."""
        return self._place.port

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def start(self) -> Self:
        """Start it; returns itself when it listens. LaunchError with its output when not."""
        with self._lock:
            # Our own name daemon in the foreground: the server would start one that outlives it.
            self._names = self._spawn("epmd")
            names_port = int(self._place.environment["ERL_EPMD_PORT"])
            keeper.wait_until(lambda: _listens(names_port), what="epmd")
            self._start_server()
        return self

    def kill(self) -> float:
        """SIGKILL the server and start it again; seconds until it listens."""
        with self._lock:
            begun = monotonic()
            self._end_server(signal.SIGKILL)
            self._start_server()
            return monotonic() - begun

    def control(self, *words: str) -> str:
        """Run rabbitmqctl on this node and return what it printed."""
        command = [str(SCRIPTS / "rabbitmqctl"), "-n", self._place.name, "-q", *words]
        return subprocess.run(  # noqa: S603
            command,
            env=self._place.environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout

    def stop(self) -> None:
        """Stop it, by force after some seconds, and remove its folder."""
        with self._lock:
            self._end_server(signal.SIGTERM)
            if self._names is not None:
                self._names.kill()
                self._names.wait()
                self._names = None
            shutil.rmtree(self._place.folder, ignore_errors=True)

    def _start_server(self) -> None:
        server = self._server = self._spawn(str(SCRIPTS / "rabbitmq-server"))

        def is_ready() -> bool:
            if server.poll() is not None:
                said = (self._place.folder / "output").read_text(errors="replace")[-2000:]
                raise LaunchError(f"RabbitMQ ended:\n{said}")
            return _listens(self.port)

        keeper.wait_until(is_ready, _START_SECONDS, what="RabbitMQ's port")

    def _end_server(self, number: signal.Signals) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        server.send_signal(number)
        try:
            server.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        kill_group(server)

    def _spawn(self, command: str) -> subprocess.Popen[bytes]:
        return keeper.do(
            lambda: spawn(
                [command],
                death_signal=signal.SIGKILL,
                environment=self._place.environment,
                output=self._place.folder / "output",
            )
        )


def _prepare(folder: Path) -> _Place:
    port, dist, epmd = keeper.free_ports(3)
    (folder / "plugins").write_text("[].\n")
    (folder / "rabbitmq.conf").write_text(
        f"listeners.tcp.default = 127.0.0.1:{port}\nlog.file.level = warning\n"
        "disk_free_limit.absolute = 50MB\n"
    )
    name = f"comboio-{os.getpid()}-{port}@localhost"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "ERL_EPMD_PORT": str(epmd),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none"),
        "RABBITMQ_NODENAME": name,
        "RABBITMQ_DIST_PORT": str(dist),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        # "allow input" makes the script exec the server instead of watching it: one pid, ours.
        "RABBITMQ_ALLOW_INPUT": "1",
        "RABBITMQ_SERVER_START_ARGS": "-noinput",
    }
    return _Place(folder=folder, name=name, port=port, environment=environment)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
