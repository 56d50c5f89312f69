"""Worker processes of a test, real and quick to start, so that a test can kill many of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from typing import Any

from django.db import connection

from tests import forked

_JOIN_SECONDS = 60.0

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([forked.__name__])

Start = Callable[..., ForkServerProcess]


@contextmanager
def forking() -> Iterator[Start]:
    """Gives start(job, *arguments): a process on the test database; each is gone at the end.

    job is a function of a module: the process imports it.
    """
    started: list[ForkServerProcess] = []

    def start(job: Callable[..., None], *arguments: Any) -> ForkServerProcess:
        values = (job, connection.settings_dict["NAME"], arguments)
        process = _context.Process(target=forked.begin, args=values)
        process.start()
        started.append(process)
        return process

    try:
        yield start
    finally:
        for each in started:
            kill(each)
            each.close()


def kill(process: ForkServerProcess) -> None:
    """SIGKILL, and wait until it is gone."""
    if process.exitcode is None and process.pid is not None:
        os.kill(process.pid, signal.SIGKILL)
    process.join(_JOIN_SECONDS)


def status(process: ForkServerProcess) -> int | None:
    """How it ended (-9: it was killed), once it has."""
    process.join(_JOIN_SECONDS)
    return process.exitcode


def work_until_one_lives(start: Start, job: Callable[..., None], *arguments: Any) -> int:
    """Start one worker after the other until one ends by itself; how many were killed."""
    for died in range(30):
        ended = status(start(job, *arguments))
        if ended == 0:
            return died
        assert ended == -signal.SIGKILL, f"a worker ended with {ended}"
    raise AssertionError("every worker died")
