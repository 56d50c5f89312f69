"""A worker of the tests with a parent that renews leases: python -m tests.leasing.

One child drains until it has moved something. Its handler charges, works as its payload says, and
commits.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from monitor.domain.effect import Call  # noqa: E402 - what follows needs the set-up above
from monitor.engine.drain import drain  # noqa: E402
from monitor.engine.life import Life  # noqa: E402
from monitor.worker.board import Board  # noqa: E402
from monitor.worker.renewal import Renewal  # noqa: E402
from tests.charging import charging, write_row  # noqa: E402

FOLDER = "LEASING_FOLDER"
LEASE = "LEASING_SECONDS"


def provider(call: Call) -> dict[str, str]:
    """Remembers each call in a file."""
    with (_folder() / "ledger").open("a", encoding="utf-8") as ledger:
        ledger.write(f"{call.key}\n")
    return {"key": call.key}


def handler(payload: Any, message: Any) -> None:
    """Charge first, then work for so many seconds: in Python, in one C call, or until it may go."""
    receipt = message.effect("charge", {"key": message.key})
    _WORK[payload["how"]](payload["seconds"])
    write_row(message, receipt)


def _in_python(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def _in_one_call(seconds: float) -> None:
    # PyDLL keeps the interpreter's lock: no other thread of this process runs meanwhile.
    ctypes.PyDLL(None).usleep(int(seconds * 1_000_000))


def _until_it_may_go(seconds: float) -> None:
    end = time.monotonic() + seconds
    while not (_folder() / "go").exists() and time.monotonic() < end:
        time.sleep(0.01)


_WORK = {
    "python": _in_python,
    "one call": _in_one_call,
    "told": _until_it_may_go,
    "short": _in_python,
}


def _folder() -> Path:
    return Path(os.environ[FOLDER])


def _work(board: Board) -> None:
    with charging("keyed", handler, call=provider, lease_seconds=float(os.environ[LEASE])):
        life = Life("test", note=partial(board.runs, 0))
        # A look while another one holds the lanes finds nothing: a real worker looks again, too.
        while not drain(life, 120.0):
            Event().wait(0.02)
        life.end()


def _watch(board: Board, child: int) -> int:
    stop = Event()
    renewing = Thread(target=Renewal(board, stop).run)
    renewing.start()
    _, status = os.waitpid(child, 0)
    stop.set()
    renewing.join(10)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    shared = Board()
    child_pid = os.fork()  # before any thread or connection
    if child_pid == 0:
        _work(shared)
        os._exit(0)
    sys.exit(_watch(shared, child_pid))
