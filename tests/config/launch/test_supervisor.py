from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from config.launch.errors import LaunchError
from config.launch.process import spawn
from config.launch.supervisor import Service, Supervisor
from tests.waiting import wait_until

SLEEP = "import time; time.sleep(60)"
DEAF = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGQUIT, signal.SIG_IGN)
subprocess.Popen(["sleep", "60"])
print("ready", flush=True)
time.sleep(60)
"""


def service(folder: Path, code: str, **more: object) -> Service:
    return Service(
        name="child",
        command=(sys.executable, "-c", code),
        environment={"PATH": os.environ["PATH"]},
        log=folder / "child.log",
        **more,  # type: ignore[arg-type]
    )


def pid_of(supervisor: Supervisor) -> int:
    return supervisor._children["child"].process.pid


def test_a_killed_child_is_named_and_started_again(tmp_path: Path) -> None:
    said: list[str] = []
    supervisor = Supervisor(said.append)
    supervisor.start(service(tmp_path, SLEEP))
    first = pid_of(supervisor)
    os.kill(first, signal.SIGKILL)

    def is_another() -> bool:
        supervisor.turn(0.05)
        return pid_of(supervisor) != first

    wait_until(is_another)
    supervisor.stop("child")

    assert said == ["child was killed (SIGKILL); it starts again in 0.5 s."]


def test_a_child_that_dies_at_once_again_and_again_ends_it_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("config.launch.supervisor._LONGEST_DELAY_SECONDS", 0.01)
    supervisor = Supervisor(lambda _words: None)
    supervisor.start(service(tmp_path, "raise SystemExit('no such luck')"))

    with pytest.raises(LaunchError, match=r"(?s)child died again and again.*no such luck"):
        wait_until(lambda: supervisor.turn(0.05))


def test_what_is_deaf_to_signals_is_killed_with_its_children(tmp_path: Path) -> None:
    supervisor = Supervisor(lambda _words: None)
    stop = ((signal.SIGTERM, 0.1), (signal.SIGQUIT, 0.1))
    supervisor.start(service(tmp_path, DEAF, stop=stop))
    wait_until(lambda: "ready" in (tmp_path / "child.log").read_text())
    child = psutil.Process(pid_of(supervisor))
    family = [child, *child.children()]

    supervisor.stop("child")

    assert len(family) == 2
    wait_until(lambda: not any(is_running(process) for process in family))


def test_a_service_that_is_never_ready_is_reported_with_its_log(tmp_path: Path) -> None:
    supervisor = Supervisor(lambda _words: None)
    code = f"print('still loading', flush=True); {SLEEP}"
    supervisor.start(service(tmp_path, code, is_ready=lambda _pid: False))
    wait_until(lambda: "loading" in (tmp_path / "child.log").read_text())

    with pytest.raises(LaunchError, match=r"(?s)child is not ready.*still loading"):
        supervisor.wait_ready("child", seconds=0)

    supervisor.stop("child")


def test_a_child_ends_with_its_killed_parent(tmp_path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from config.launch.process import spawn
child = spawn(["sleep", "60"], death_signal=signal.SIGKILL, environment=os.environ, output=None)
print(child.pid, flush=True)
{SLEEP}
"""
    log = tmp_path / "log"
    parent = spawn(
        [sys.executable, "-c", code],
        death_signal=signal.SIGKILL,
        environment=os.environ,
        output=log,
        folder=Path(__file__).parents[3],
    )
    pid = int(wait_until(lambda: log.read_text().strip()))
    child = psutil.Process(pid)

    parent.kill()
    parent.wait()

    wait_until(lambda: not is_running(child))


def is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
