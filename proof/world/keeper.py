"""One thread that starts processes and mounts for everybody, and lives as long as the run.

The kernel ends a child when the thread that started it ends, so no thread of a fault may start
one. The mounts it makes are seen by it and its children only, and go away with them.
"""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import get_ident
from time import monotonic, sleep
from typing import TypeVar

Answer = TypeVar("Answer")

_CLONE_NEWNS = 0x00020000

_thread = ThreadPoolExecutor(1, thread_name_prefix="keeper")
_ident = _thread.submit(get_ident)
_libc = ctypes.CDLL(None, use_errno=True)
_has_own_mounts = False


def do(job: Callable[[], Answer]) -> Answer:
    """Run a job in the thread of the keeper; what it returns, or its error."""
    if get_ident() == _ident.result():
        return job()
    return _thread.submit(_quietly, job).result()


def own_mounts() -> None:
    """From now on the mounts of this thread are its own. OSError when that is not permitted."""
    global _has_own_mounts  # noqa: PLW0603 - one thread, one namespace
    if _has_own_mounts:
        return
    if _libc.unshare(_CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "mounts of its own are not permitted")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True, capture_output=True)  # noqa: S607
    _has_own_mounts = True


def _quietly(job: Callable[[], Answer]) -> Answer:
    with warnings.catch_warnings():
        # Newer Pythons warn of a fork beside threads; ours only execs.
        warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*fork.*")
        return job()


def children(pid: int) -> list[int]:
    """The processes that a process has started and not outlived (Linux)."""
    found = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names are enough
    except FileNotFoundError:
        return []
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:  # noqa: PTH123
                found += [int(word) for word in file.read().split()]
        except FileNotFoundError:
            continue
    return found


def wait_until(predicate: Callable[[], bool], seconds: float = 30, *, what: str) -> None:
    """Return when it is true. TimeoutError when the time is over."""
    deadline = monotonic() + seconds
    while not predicate():
        if monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        sleep(0.01)


def free_ports(count: int) -> list[int]:
    """Ports of loopback that were free a moment ago, all different."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports
