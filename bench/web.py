"""The product's processes for a measurement: web server and clock, as `up` starts them."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command

ROOT = Path(__file__).resolve().parent.parent
_BACKEND = "django.contrib.auth.backends.ModelBackend"
_START_SECONDS = 30
_TICKS = os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def web() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The web server on a free port of loopback: its process and the port."""
    call_command("collectstatic", interactive=False, verbosity=0)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = int(found.getsockname()[1])
    listen = ("--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port))
    threads = ("--workers", "1", "--blocking-threads", "4", "--no-ws", "--log-level", "warning")
    with process("web", "-m", "granian", *listen, *threads, "config.wsgi:application") as started:
        _wait(started, port)
        yield started, port


@contextlib.contextmanager
def process(role: str, *words: str, talks: bool = False) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process of the product with this role. talks: its input and output are pipes."""
    pipe = subprocess.PIPE if talks else subprocess.DEVNULL
    environment = {**os.environ, "COMBOIO_ROLE": role, "PYTHONUNBUFFERED": "1"}
    started = subprocess.Popen(  # noqa: S603
        [sys.executable, *words], cwd=ROOT, env=environment, stdin=pipe, stdout=pipe
    )
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(10)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def cookie() -> str:
    """The cookie of an administrator who is signed in."""
    user = get_user_model()._default_manager.create_superuser("bench", password=None)
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = _BACKEND
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return f"{settings.SESSION_COOKIE_NAME}={session.session_key}"


def cpu_seconds(pid: int) -> float:
    """What a process and those it started have used of the processors (Linux)."""
    own = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    used = (int(own[11]) + int(own[12])) / _TICKS
    return used + sum(cpu_seconds(int(child)) for child in children)


def _wait(started: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and started.poll() is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            return
        time.sleep(0.1)
    raise SystemExit("The web server did not start.")
