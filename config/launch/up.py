"""`./manage.py up`: the whole product from one command, kept up until it is told to stop."""

from __future__ import annotations

import argparse
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from config.launch import attach, parts, prepared
from config.launch.bootstrap import ROOT
from config.launch.errors import LaunchError
from config.launch.folder import DataFolder, Lock
from config.launch.process import spawn
from config.launch.supervisor import StopRequested, Supervisor

_DEFAULT_PORT = 8000
_PORTS_TRIED = 50
# A killed web server lets go of its port a moment after its death.
_PORT_PATIENCE_SECONDS = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for."""

    folder: DataFolder
    port: int | None
    is_demo: bool
    is_until_drained: bool
    report: Path | None


def main(arguments: Sequence[str]) -> int:
    """Start everything and keep it up; 0 after an orderly stop, else the demo's own status."""
    options = _parse(arguments)
    options.folder.prepare()
    lock = Lock(options.folder)
    with lock:
        return _Run(options, lock).run()


class _Run:
    """One life of `up`."""

    def __init__(self, options: Options, lock: Lock) -> None:
        self.options = options
        self.lock = lock
        self.folder = options.folder
        self.variables = parts.environment(self.folder)
        self.begun = time.monotonic()
        self.supervisor = Supervisor(say=_say)

    def run(self) -> int:
        """Start, keep up, stop."""
        self.lock.say(f"starting, process {os.getpid()}")
        self.supervisor.listen()
        try:
            port = _choose_port(self.options.port)
            self._start(port)
            return self._keep(port)
        except StopRequested:
            return 0
        finally:
            self._stop()

    def _start(self, port: int) -> None:
        self._start_stores()
        login = self._prepare()
        begun = time.monotonic()
        if self.options.is_demo:
            self._start_provider()
        for service in (
            parts.web(self.folder, self.variables, port=port),
            parts.worker(self.folder, self.variables),
            parts.clock(self.folder, self.variables),
        ):
            self.supervisor.start(service)
        self.supervisor.wait_ready("web", "worker", "clock")
        _step("Web, worker, clock", begun)
        address = f"http://127.0.0.1:{port}/"
        self.lock.say(f"{address} process {os.getpid()}, data in {self.folder.path}")
        _say(f"Ready after {time.monotonic() - self.begun:.1f} s: {address}")
        _say(f"Data and logs: {self.folder.path}")
        if login:
            _say(login)

    def _start_stores(self) -> None:
        begun = time.monotonic()
        stores = []
        if not os.environ.get("BROKER_URL") and (broker := parts.broker(self.folder)):
            stores.append(broker)
        if not os.environ.get("DATABASE_URL"):
            stores.append(parts.database(self.folder))
        for service in stores:
            self.supervisor.start(service)
        names = [service.name for service in stores]
        self.supervisor.wait_ready(*names)
        if names:
            _step(" and ".join(sorted(names)), begun)

    def _start_provider(self) -> None:
        port = _free_port()
        self.variables[parts.PROVIDER_URL] = f"http://127.0.0.1:{port}"
        self.supervisor.start(parts.provider(self.folder, self.variables, port=port))
        self.supervisor.wait_ready("provider")

    def _prepare(self) -> str:
        """Tables, static files, first login; the words that show it, or "" when nothing was new."""
        is_ours = not os.environ.get("DATABASE_URL")
        if is_ours and prepared.is_prepared(self.folder, ROOT):
            return ""
        begun = time.monotonic()
        process = self._child(
            ["-m", "config.launch.prepare"], role="prepare", output=subprocess.PIPE
        )
        status = self.supervisor.wait_end(process)
        said = process.stdout.read().decode(errors="replace").strip() if process.stdout else ""
        if status != 0:
            raise LaunchError(f"The database could not be prepared.\n{said}")
        _step("Tables, static files, login", begun)
        if is_ours:
            prepared.remember(self.folder, ROOT)
        return said

    def _keep(self, port: int) -> int:
        if not self.options.is_demo:
            self.supervisor.keep()
        if not self.options.is_until_drained:
            self.supervisor.start(parts.demo(self.folder, self.variables, port=port))
            self.supervisor.keep()
        command = ["manage.py", *parts.demo_arguments(port), "--until-drained"]
        if self.options.report is not None:
            command += ["--report", str(self.options.report.absolute())]
        process = self._child(command, role="demo", output=None)
        try:
            return self.supervisor.wait_end(process)
        finally:
            if process.poll() is None:
                process.kill()

    def _child(
        self, command: Sequence[str], *, role: str, output: int | None
    ) -> subprocess.Popen[bytes]:
        sys.stdout.flush()
        return spawn(
            [sys.executable, *command],
            death_signal=signal.SIGKILL,
            environment=parts.child_environment(role, self.variables),
            output=output,
            folder=ROOT,
        )

    def _stop(self) -> None:
        begun = time.monotonic()
        running = self.supervisor.names()
        stores = [name for name in ("valkey", "postgres") if name in running]
        if "postgres" in stores:
            parts.checkpoint(self.folder)
        self.supervisor.stop(*(name for name in running if name not in stores))
        for name in stores:
            self.supervisor.stop(name)
        if running:
            _say(f"Stopped in {time.monotonic() - begun:.1f} s.")


def _parse(arguments: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(
        prog="./manage.py up",
        description="Start the database, the broker, the web server, the worker and the clock.",
    )
    parser.add_argument(
        "--port", type=_port, help="the web server's port; by default 8000 or the next"
    )
    parser.add_argument("--data", type=Path, help="the folder of everything it keeps (./var)")
    parser.add_argument("--demo", action="store_true", help="feed the examples with traffic")
    parser.add_argument(
        "--until-drained",
        action="store_true",
        help="with --demo: send a fixed set, wait until it is processed, compare, report, stop",
    )
    parser.add_argument("--report", type=Path, help="with --until-drained: a file for the report")
    found = parser.parse_args(arguments)
    if found.until_drained and not found.demo:
        parser.error("--until-drained needs --demo")
    if found.report and not found.until_drained:
        parser.error("--report needs --until-drained")
    path = found.data.absolute() if found.data else attach.data_path()
    return Options(
        folder=DataFolder(path=path),
        port=found.port,
        is_demo=found.demo,
        is_until_drained=found.until_drained,
        report=found.report,
    )


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 65536:  # noqa: PLR2004
        raise argparse.ArgumentTypeError(f"{text!r} is not a port (1 to 65535)")
    return int(text)


def _choose_port(wanted: int | None) -> int:
    """The port asked for, or the first free one from 8000; said when it is not 8000 itself."""
    if wanted is not None:
        deadline = time.monotonic() + _PORT_PATIENCE_SECONDS
        while (reason := _refusal(wanted)) is not None:
            if reason.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                raise LaunchError(
                    f"Port {wanted}: {reason.strerror}. Choose another one: --port N"
                ) from reason
            time.sleep(0.1)
        return wanted
    for port in range(_DEFAULT_PORT, _DEFAULT_PORT + _PORTS_TRIED):
        if _refusal(port) is None:
            if port != _DEFAULT_PORT:
                _say(f"Port {_DEFAULT_PORT} is taken; using {port}.")
            return port
    raise LaunchError(f"No port is free from {_DEFAULT_PORT} on. Choose one: --port N")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _refusal(port: int) -> OSError | None:
    """Why the port cannot be bound. The web server itself would share it silently."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return error
    return None


def _step(name: str, begun: float) -> None:
    _say(f"{name:<40} {time.monotonic() - begun:6.1f} s")


def _say(words: str) -> None:
    print(words, flush=True)  # noqa: T201
