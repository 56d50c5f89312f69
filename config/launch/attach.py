"""Gives a command the database of `up`: the running one, else one started just for it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from config.launch import parts, postgres
from config.launch.bootstrap import ROOT
from config.launch.errors import LaunchError
from config.launch.folder import ALREADY_RUNNING, DataFolder, Lock

_WITHOUT_DATABASE = {
    *("help", "--help", "-h", "--version", "version", "check", "makemessages", "compilemessages"),
    *("diffsettings", "findstatic", "collectstatic", "makemigrations"),
}


@contextlib.contextmanager
def attached(word: str) -> Iterator[None]:
    """The environment of a command while the block runs.

    With DATABASE_URL set, everything is the caller's. Else: the data folder of `up` (COMBOIO_DATA,
    ./var), its server when it runs, or a server that lives as long as the block. LaunchError when
    nothing was ever started there.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("COMBOIO_ROLE", word if word.isidentifier() else "command")
    if os.environ.get("DATABASE_URL"):
        yield
        return
    folder = DataFolder(path=data_path())
    folder.prepare()
    for name, value in parts.environment(folder).items():
        os.environ.setdefault(name, value)
    if word in _WITHOUT_DATABASE:
        yield
        return
    with _server(folder):
        yield


def data_path() -> Path:
    """The data folder that the environment names, or ./var of the checkout."""
    return Path(os.environ.get("COMBOIO_DATA") or ROOT / "var").absolute()


@contextlib.contextmanager
def _server(folder: DataFolder) -> Iterator[None]:
    lock = Lock(folder)
    try:
        lock.take()
    except LaunchError as error:
        if error.status != ALREADY_RUNNING:
            raise
        yield  # Somebody keeps the server up: use it.
        return
    if not folder.postgres.exists():
        raise LaunchError("There is no database yet. Run ./manage.py up once, or set DATABASE_URL.")
    with lock:
        lock.say(f"a command of process {os.getpid()} uses {folder.path}")
        process = _start(folder)
        try:
            yield
        finally:
            postgres.stop(process)


def _start(folder: DataFolder) -> subprocess.Popen[bytes]:
    cluster = parts.cluster(folder)
    postgres.settle_leftovers(cluster.data)
    postgres.initialise(cluster)
    # A Ctrl-C is for the command; the server is stopped after it, in order.
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGTERM, _leave)
    return postgres.start(cluster, output=folder.log("postgres"))


def _leave(_number: int, _frame: object) -> None:
    raise SystemExit(143)
