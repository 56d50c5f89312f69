"""The real thing for a journey: a durable PostgreSQL, RabbitMQ and a Celery worker, all of our own.

Everything here is started by the test, so everything may be killed by it, by its process id.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from config.launch import postgres
from config.launch.postgres import Cluster
from config.launch.process import kill_group, spawn
from monitor.domain.message import Delivery
from monitor.engine import directory, ingest
from tests.rabbitmq import Node
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
# Not the settings of the test run: these are the product's own, on a database that keeps its word.
_OF_THE_TEST_RUN = ("COMBOIO_UNSAFE_DATABASE", "COMBOIO_TEST_REQUIRE_ALL", "DJANGO_SETTINGS_MODULE")


class System:
    """One installation; fresh() gives each journey its own database and configuration."""

    def __init__(self, node: Node) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="comboio-journey-"))
        self.folder.chmod(0o711)  # PostgreSQL may run as another user.
        binaries = postgres.find_binaries()
        data = self.folder / "data"
        self._cluster = Cluster(
            binaries=binaries,
            data=data,
            sockets=self.folder / "run",
            account=postgres.choose_account(binaries, data),
        )
        self._environment = self._variables(node)
        self._numbers = count(1)
        self.workers: list[subprocess.Popen[bytes]] = []
        self._web: subprocess.Popen[bytes] | None = None
        postgres.initialise(self._cluster)
        self._server = self._start_server()
        self._config("")
        self._run("config.launch.prepare")

    def fresh(self, name: str, source: str) -> None:
        """From here on: an empty inbox, made from the prepared database, and this configuration."""
        template = postgres.url(self._cluster.sockets, "postgres")
        with psycopg.connect(template, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE comboio")
        self._environment["DATABASE_URL"] = postgres.url(self._cluster.sockets, name)
        self._config(source)

    def start_worker(self, *, children: int = 2, **variables: str) -> subprocess.Popen[bytes]:
        """A Celery worker as `up` starts it; returns when it is ready."""
        ready = self.folder / "ready"
        ready.unlink(missing_ok=True)
        name = f"journey-{next(self._numbers)}@%h"
        words = ["-m", "celery", "-A", "config.celery", "worker", "-n", name, "-c", str(children)]
        worker = spawn(
            [sys.executable, *words, "--without-gossip", "--without-mingle", "-l", "INFO"],
            death_signal=signal.SIGKILL,
            environment={
                **self._environment,
                "COMBOIO_ROLE": "worker",
                "COMBOIO_READY": str(ready),
                "C_FORCE_ROOT": "1",
                **variables,
            },
            output=self.folder / "worker.log",
            folder=ROOT,
        )
        self.workers.append(worker)
        wait_until(ready.exists, 60, what="a ready worker")
        return worker

    def kill_child_at_work(self) -> None:
        """SIGKILL one child of the worker while it holds a batch that it announced."""
        wait_until(self._killed_one, 60, what="a child at work")

    def kill_server(self) -> None:
        """SIGKILL the postmaster, and start the server again as its supervisor would."""
        self._server.kill()
        self.start_server()

    def stop_server_at_once(self) -> None:
        """PostgreSQL's immediate mode: every connection ends now, nothing is written first."""
        self._server.send_signal(signal.SIGQUIT)
        self._server.wait(30)

    def start_server(self) -> None:
        """Start the server that was killed or stopped."""
        self._server.wait()
        postgres.settle_leftovers(self._cluster.data)
        self._server = self._start_server()

    def start_web(self, **variables: str) -> int:
        """The web process as `up` starts it; its port, on which it does not answer at once."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        words = ["-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--workers", "1"]
        words += ["--blocking-threads", "4", "--no-ws", "--log-level", "warning"]
        self._web = spawn(
            [sys.executable, *words, "--port", str(port), "config.wsgi:application"],
            death_signal=signal.SIGKILL,
            environment={**self._environment, "COMBOIO_ROLE": "web", **variables},
            output=self.folder / "web.log",
            folder=ROOT,
        )
        return port

    def store(self, deliveries: list[Delivery]) -> None:
        """Put deliveries straight into the inbox."""
        directory.forget()
        with psycopg.connect(self._environment["DATABASE_URL"]) as connection:
            ingest.accept(connection.cursor(), deliveries)
        directory.forget()

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """What a query finds."""
        with psycopg.connect(self._environment["DATABASE_URL"], connect_timeout=5) as connection:
            return connection.execute(query).fetchall()

    def number(self, query: str) -> int:
        """The one number that a query finds."""
        return int(self.ask(query)[0][0])

    def log(self) -> str:
        """The end of what the workers told."""
        return (self.folder / "worker.log").read_text(errors="replace")[-3000:]

    def stop_workers(self) -> None:
        """Stop every worker, and the children that a killed one left behind."""
        for worker in self.workers:
            worker.send_signal(signal.SIGTERM)
        for worker in self.workers:
            try:
                worker.wait(10)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
            kill_group(worker)
        self.workers.clear()

    def close(self) -> None:
        """Stop everything and remove the folder."""
        self.stop_workers()
        if self._web is not None:
            self._web.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._web.wait(5)
            kill_group(self._web)
            self._web.wait()
        postgres.stop(self._server)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _killed_one(self) -> bool:
        busy = "SELECT pid FROM comboio_worker WHERE process = 'child' AND ids <> '{}'"
        for (pid,) in self.ask(busy):
            # Stopped first, so that what the second look sees is still true at the kill.
            os.kill(pid, signal.SIGSTOP)
            if (pid,) in self.ask(busy):
                os.kill(pid, signal.SIGKILL)
                return True
            os.kill(pid, signal.SIGCONT)
        return False

    def _start_server(self) -> subprocess.Popen[bytes]:
        return postgres.start(self._cluster, output=self.folder / "postgres.log")

    def _config(self, source: str) -> None:
        (self.folder / "comboio.toml").write_text(source)

    def _variables(self, node: Node) -> dict[str, str]:
        kept = {n: v for n, v in os.environ.items() if n not in _OF_THE_TEST_RUN}
        return {
            **kept,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "SECRET_KEY": "only-for-this-journey-" + "0123456789" * 4,
            "DATABASE_URL": postgres.url(self._cluster.sockets, "comboio"),
            "BROKER_URL": node.url,
            "PAYMENTS_URL": node.url,
            "COMBOIO_CONFIG": str(self.folder / "comboio.toml"),
            "COMBOIO_DATA": str(self.folder),
        }

    def _run(self, module: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", module],
            env={**self._environment, "COMBOIO_ROLE": "prepare"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr
