"""`up` for real, in a data folder of its own."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

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

    def __init__(self, data: Path, port: int, *more: str) -> None:
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
                    *more,
                ],
                cwd=ROOT,
                stdout=output,
                stderr=output,
                env=bare_environment(),
            )

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


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env=bare_environment(),
    )


def are_gone(processes: list[psutil.Process]) -> bool:
    return not any(is_running(process) for process in processes)


def is_running(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    started = Up(tmp_path_factory.mktemp("up") / "var", free_port()).wait_ready()
    yield started
    started.stop()


def test_it_starts_everything_and_shows_the_first_login_once(up: Up) -> None:
    assert set(up.children()) == set(MARKS)
    assert up.answers()
    assert re.search(rf"Ready after \d+\.\d s: http://127\.0\.0\.1:{up.port}/", up.said)
    assert len(re.findall(r"Login: admin   Password: [A-Za-z0-9]{20} ", up.said)) == 1


def test_each_step_says_its_seconds(up: Up) -> None:
    for step in ("postgres and valkey", "Tables, static files, login", "Web, worker, clock"):
        assert re.search(rf"^{step} +\d+\.\d s$", up.said, re.MULTILINE), up.said


def test_postgres_never_runs_as_root_and_waits_for_the_disk(up: Up) -> None:
    postgres = up.children()["postgres"]

    assert postgres.uids().effective != 0 or is_in_namespace(postgres.pid)
    assert "fsync=off" not in " ".join(postgres.cmdline())


def test_a_second_one_on_the_same_data_says_so(up: Up) -> None:
    second = run("up", "--data", str(up.data), "--port", str(free_port()))

    assert second.returncode == 3
    assert f"Already running: http://127.0.0.1:{up.port}/ process {up.process.pid}" in second.stderr


def test_a_taken_port_that_was_asked_for_is_refused(up: Up, tmp_path: Path) -> None:
    second = run("up", "--data", str(tmp_path / "other"), "--port", str(up.port))

    assert second.returncode == 1
    assert f"Port {up.port}: Address already in use. Choose another one: --port N" in second.stderr


def test_the_login_is_made_anew_while_it_runs(up: Up) -> None:
    environment = {**bare_environment(), "COMBOIO_DATA": str(up.data)}
    made = subprocess.run(
        [sys.executable, "manage.py", "login", "--reset"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )

    assert re.match(r"Login: admin   Password: [A-Za-z0-9]{20} ", made.stdout)


@pytest.mark.parametrize("name", sorted(MARKS))
def test_a_killed_process_is_named_and_replaced(up: Up, name: str) -> None:
    killed = up.children()[name]
    said = len(up.said)

    killed.kill()

    wait_until(
        lambda: name in up.children() and up.children()[name].pid != killed.pid,
        PATIENCE,
        what=f"another {name}",
    )
    assert f"{name} was killed (SIGKILL); it starts again in" in up.said[said:]
    wait_until(up.answers, PATIENCE, what="the page after the death of a process")


def test_data_survive_a_stop_and_a_kill_and_nothing_is_left_running(tmp_path: Path) -> None:
    data, port = tmp_path / "with a space ü" / "var", free_port()
    data.parent.mkdir()
    first = Up(data, port).wait_ready()
    family = first.family()

    begun = time.monotonic()
    assert first.stop() == 0
    assert time.monotonic() - begun < 5
    assert are_gone(family)

    second = Up(data, port).wait_ready()
    family = second.family()
    second.process.kill()
    second.process.wait()
    wait_until(lambda: are_gone(family), 10, what="no process after the death of up")

    third = Up(data, port).wait_ready()
    assert "Password:" not in third.said  # The user is still there.
    assert third.stop() == 0


def is_in_namespace(pid: int) -> bool:
    return Path(f"/proc/{pid}/ns/user").readlink() != Path("/proc/self/ns/user").readlink()
