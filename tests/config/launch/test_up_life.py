"""The life of `up`: stops, kills, another start, other stores, commands without it."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.config.launch.running import Up, are_gone, free_port, run
from tests.waiting import wait_until


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
    third.process.send_signal(signal.SIGINT)  # Ctrl-C
    assert third.process.wait(30) == 0

    alone = run("login", COMBOIO_DATA=str(data))  # A command starts the database for itself.
    assert "The user is admin." in alone.stdout, alone.stderr
    assert not (data / "postgres" / "postmaster.pid").exists()


def test_a_command_without_any_data_says_what_to_do(tmp_path: Path) -> None:
    done = run("login", COMBOIO_DATA=str(tmp_path / "var"))

    assert done.returncode == 1
    assert "There is no database yet. Run ./manage.py up once" in done.stderr


@pytest.fixture
def elsewhere(database_url: str) -> str:
    """The address of a database that does not exist yet, on a server that is not ours."""
    return database_url.replace("/test_comboio", "/elsewhere")


def test_a_database_without_fsync_is_refused(tmp_path: Path, elsewhere: str) -> None:
    done = run(
        "up", "--data", str(tmp_path / "var"), "--port", str(free_port()), DATABASE_URL=elsewhere
    )

    assert done.returncode == 1
    assert "PostgreSQL runs with fsync = off" in done.stderr


@pytest.mark.parametrize("command", [("clock",), ("receive", "orders")])
def test_a_process_that_acknowledges_refuses_it_too(
    database_url: str, command: tuple[str, ...]
) -> None:
    done = run(
        *command, DATABASE_URL=database_url, SECRET_KEY="k" * 50, COMBOIO_SECRET_PAYMENTS="p" * 32
    )

    assert done.returncode == 1
    assert "PostgreSQL runs with fsync = off" in done.stderr


def test_addresses_replace_the_embedded_stores(tmp_path: Path, elsewhere: str) -> None:
    up = Up(
        tmp_path / "var",
        free_port(),
        DATABASE_URL=elsewhere,
        BROKER_URL="memory://",
        COMBOIO_UNSAFE_DATABASE="1",
    ).wait_ready()

    assert set(up.children()) == {"web", "worker", "clock"}
    assert up.answers()
    assert up.stop() == 0
