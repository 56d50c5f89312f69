"""The processes `up` consists of: what each runs, with which environment, and how it stops."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from config.launch import postgres, valkey
from config.launch.bootstrap import ROOT
from config.launch.folder import DataFolder, source_secrets
from config.launch.postgres import Cluster
from config.launch.process import spawn
from config.launch.supervisor import Service

DATABASE = "comboio"
WORKER_CHILDREN = 2
PROVIDER_URL = "DEMO_PROVIDER_URL"


def cluster(folder: DataFolder) -> Cluster:
    """The embedded PostgreSQL server of a data folder. LaunchError without binaries."""
    binaries = postgres.find_binaries()
    return Cluster(
        binaries=binaries,
        data=folder.postgres,
        sockets=folder.run / "postgres",
        account=postgres.choose_account(binaries, folder.postgres),
    )


def environment(folder: DataFolder) -> dict[str, str]:
    """The variables of every process of ours, where the caller has not set them."""
    config = Path(os.environ.get("COMBOIO_CONFIG") or ROOT / "comboio.toml")
    sockets = folder.run / "postgres"
    made = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": folder.secret("secret_key"),
        "DATABASE_URL": postgres.url(sockets, DATABASE),
        "BROKER_URL": valkey.url(folder.run) if valkey.find_binary() else "memory://",
        "COMBOIO_DATA": str(folder.path),
        "COMBOIO_HTTPS": "0",  # On this machine only, by plain http.
        **source_secrets(config, folder),
    }
    return {name: os.environ.get(name) or value for name, value in made.items()}


def database(folder: DataFolder) -> Service:
    """PostgreSQL. Its data folder is made when missing."""
    server = cluster(folder)
    postgres.settle_leftovers(server.data)
    postgres.initialise(server)
    return Service(
        name="postgres",
        command=tuple(server.command()),
        environment=server.environment(),
        log=folder.log("postgres"),
        account=server.account,
        death_signal=postgres.STOP_SIGNAL,
        stop=((postgres.STOP_SIGNAL, 4.0), (signal.SIGQUIT, 2.0)),
        is_ready=server.is_ready,
        before_start=lambda: postgres.settle_leftovers(server.data),
    )


def checkpoint(folder: DataFolder) -> None:
    """Let the database write to disk while the others are still stopping. Nobody waits for it."""
    server = cluster(folder)
    with contextlib.suppress(OSError):
        spawn(
            server.checkpoint_command(DATABASE),
            death_signal=signal.SIGKILL,
            environment=server.environment(),
            output=folder.log("postgres"),
        )


def broker(folder: DataFolder) -> Service | None:
    """Valkey; None where there is none for this platform."""
    binary = valkey.find_binary()
    if binary is None:
        return None
    return Service(
        name="valkey",
        command=tuple(valkey.command(binary, folder.run)),
        environment={"PATH": "/usr/bin:/bin"},
        log=folder.log("valkey"),
        death_signal=signal.SIGTERM,
        is_ready=lambda _pid: valkey.is_ready(folder.run),
    )


def web(folder: DataFolder, variables: Mapping[str, str], *, port: int) -> Service:
    """The web server on loopback."""
    return _python(
        "web",
        folder,
        variables,
        ("-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port)),
        ("--workers", "1", "--blocking-threads", "4", "--no-ws", "--log-level", "warning"),
        ("--respawn-failed-workers", "--workers-kill-timeout", "2", "config.wsgi:application"),
        is_ready=lambda _pid: _answers(port),
    )


def worker(folder: DataFolder, variables: Mapping[str, str]) -> Service:
    """The Celery worker. SIGTERM lets it finish its batch, SIGQUIT gives it up."""
    ready = folder.run / "worker.ready"
    return _python(
        "worker",
        folder,
        {**variables, "COMBOIO_READY": str(ready), "C_FORCE_ROOT": "1"},
        ("-m", "celery", "-A", "config.celery", "worker", "-n", f"worker-{os.getpid()}@%h"),
        ("-c", str(WORKER_CHILDREN), "--without-gossip", "--without-mingle", "-l", "INFO"),
        is_ready=lambda pid: _says(ready, pid),
        stop=((signal.SIGTERM, 2.5), (signal.SIGQUIT, 0.5)),
    )


def clock(folder: DataFolder, variables: Mapping[str, str]) -> Service:
    """The clock: retention, roll-ups, snapshots."""
    return _python("clock", folder, variables, ("manage.py", "clock", "--skip-checks"))


def provider(folder: DataFolder, variables: Mapping[str, str], *, port: int) -> Service:
    """The provider that the demo's charges go to; its ledger stays in the data folder."""
    ledger = str(folder.path / "demo" / "provider.ledger")
    return _python(
        "provider",
        folder,
        variables,
        ("-m", "examples.provider", "--ledger", ledger, "--port", str(port)),
        ("--closed-seconds", "70"),
        is_ready=lambda _pid: _answers(port),
    )


def demo(folder: DataFolder, variables: Mapping[str, str], *, port: int) -> Service:
    """The demo's gentle traffic without end."""
    return _python("demo", folder, variables, ("manage.py", *demo_arguments(port), "--continuous"))


def demo_arguments(port: int) -> tuple[str, ...]:
    """The demo command, sending to our web process."""
    # The checks ran when the database was prepared; their warnings are not for this screen.
    return ("demo", "--skip-checks", "--url", f"http://127.0.0.1:{port}")


def child_environment(role: str, variables: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment with our variables and the role of the process."""
    return {**os.environ, **variables, "COMBOIO_ROLE": role, "PYTHONUNBUFFERED": "1"}


def _python(
    name: str,
    folder: DataFolder,
    variables: Mapping[str, str],
    *command: tuple[str, ...],
    **more: Any,
) -> Service:
    words = [word for part in command for word in part]
    return Service(
        name=name,
        command=(sys.executable, *words),
        environment=child_environment(name, variables),
        log=folder.log(name),
        folder=ROOT,
        **more,
    )


def _answers(port: int) -> bool:
    """True when the web server answers at all: what it says is for the pages."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/healthz")
        connection.getresponse()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True


def _says(ready: Path, pid: int) -> bool:
    try:
        return ready.read_text(encoding="ascii") == str(pid)
    except OSError:
        return False
