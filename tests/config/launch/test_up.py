"""`up` while it runs: what it starts, says, refuses and replaces."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.config.launch.running import MARKS, PATIENCE, Up, free_port, run
from tests.waiting import wait_until


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
    # The server that a test before killed may still be on its way back.
    made = wait_until(lambda: _login_anew(up), 30, what="a login")

    assert made is not None
    assert re.match(r"Login: admin   Password: [A-Za-z0-9]{20} ", made.stdout), made.stderr


def _login_anew(up: Up) -> subprocess.CompletedProcess[str] | None:
    made = run("login", "--reset", COMBOIO_DATA=str(up.data))
    return made if made.returncode == 0 else None


@pytest.mark.parametrize("name", sorted(MARKS))
def test_a_killed_process_is_named_and_replaced(up: Up, name: str) -> None:
    killed = up.children()[name]
    said = len(up.said)

    killed.kill()

    wait_until(
        lambda: (now := up.children().get(name)) and now.pid != killed.pid,
        PATIENCE,
        what=f"another {name}",
    )
    assert f"{name} was killed (SIGKILL); it starts again in" in up.said[said:]
    wait_until(up.answers, PATIENCE, what="the page after the death of a process")


def is_in_namespace(pid: int) -> bool:
    return Path(f"/proc/{pid}/ns/user").readlink() != Path("/proc/self/ns/user").readlink()
