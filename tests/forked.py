"""The inside of a worker process that tests.forking started: on the test database, until killed.

Imported before the fork, so that each process begins with Django ready.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

# What the modules of most jobs import: once, before the first fork.
import pika  # noqa: E402, F401
import pytest  # noqa: E402, F401
from django.db import connection  # noqa: E402 - needs the set-up above

import monitor.metrics.figures  # noqa: E402
import monitor.sources.amqp  # noqa: E402
import monitor.sources.receiver  # noqa: E402, F401
import tests.charging  # noqa: E402, F401
from config.launch.process import die_with_parent  # noqa: E402
from monitor.engine.drain import drain  # noqa: E402
from monitor.engine.life import Life  # noqa: E402


def begin(job: Callable[..., None], database: str, arguments: tuple[Any, ...]) -> None:
    """The first and last call in the process."""
    die_with_parent(signal.SIGKILL)
    connection.settings_dict["NAME"] = database
    job(*arguments)


def die() -> NoReturn:
    """SIGKILL for this process, here and now."""
    while True:
        os.kill(os.getpid(), signal.SIGKILL)


def drain_once(seconds: float = 20.0, **life: Any) -> int:
    """Run what may run now, as one process life with an orderly end; how many messages moved."""
    own = Life("test", **life)
    moved = drain(own, seconds)
    own.end()
    return moved


def drain_for_ever(name: str = "test") -> NoReturn:
    """Look for work again and again, as a worker of that name that is woken does."""
    own = Life(name)
    while True:
        drain(own, 5.0)
        time.sleep(0.01)


def note(path: Path, line: str) -> None:
    """Add a line to a file, outside any transaction: it stays whatever becomes of the process."""
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def noted(path: Path) -> list[str]:
    """All lines so far."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@contextmanager
def instead(owner: Any, name: str, wrapper: Callable[..., Any]) -> Iterator[None]:
    """While open, owner.name(...) is wrapper(the original, ...): a place to die at."""
    plain = getattr(owner, name)
    setattr(owner, name, lambda *values, **named: wrapper(plain, *values, **named))
    try:
        yield
    finally:
        setattr(owner, name, plain)
