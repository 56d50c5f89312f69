"""Runs `up` for real, in a data folder of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import psutil

from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
MARKS = {
    "postgres": "bin/postgres -D",
    "valkey": "valkey-server",
    "web": "granian",
    "worker": "config.celery",
    "clock": "manage.py clock",
}
PATIENCE = 90  # The machine may be busy; what the product promises is measured apart.


class Up:
    """One running `up`."""

    def __init__(self, data: Path, port: int, **variables: str) -> None:
        self.data, self.port = data, port
        self.output = data.with_suffix(".out")
        self.begins = self.output.stat().st_size if self.output.exists() else 0
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "manage.py",
                    "up",
                    "--data",
                    str(data),
                    "--port",
                    str(port),
                ],
                cwd=ROOT,
                stdout=output,
                stderr=output,
                env={**bare_environment(), **variables},
            )

    def __enter__(self) -> Up:
        try:
            return self.wait_ready()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def said(self) -> str:
        return self.output.read_bytes()[self.begins :].decode()

    def wait_ready(self) -> Up:
        def is_ready() -> bool:
            assert self.process.poll() is None, self.said
            return "Ready after" in self.said

        wait_until(is_ready, PATIENCE, what="up is ready")
        return self

    def children(self) -> dict[str, psutil.Process]:
        found: dict[str, psutil.Process] = {}
        for child in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.NoSuchProcess):  # It may just be dying.
                words = " ".join(child.cmdline())
                found |= {name: child for name, mark in MARKS.items() if mark in words}
        return found

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/login/", timeout=2) as page:
                return bool(page.status == 200)
        except OSError:
            return False

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def bare_environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env={**bare_environment(), **variables},
    )


def are_gone(processes: list[psutil.Process]) -> bool:
    return not any(is_running(process) for process in processes)


def is_running(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
