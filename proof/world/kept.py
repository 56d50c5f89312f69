"""A process of the product that is started again when it has died, as its supervisor would."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Lock

from config.launch.bootstrap import ROOT
from config.launch.process import kill_group, spawn
from proof.world import keeper

_START_SECONDS = 60.0
_STOP_SECONDS = 5.0


class Kept:
    """One process of Python with its own log. Any thread may call it."""

    def __init__(
        self,
        role: str,
        words: Sequence[str],
        environment: Mapping[str, str],
        *,
        log: Path,
        is_ready: Callable[[], bool] = lambda: True,
    ) -> None:
        """words: what follows the name of the interpreter."""
        self._role = role
        self._words = words
        self._environment = {**environment, "COMBOIO_ROLE": role}
        self._log = log
        self._is_ready = is_ready
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.restarts = 0

    def start(self) -> None:
        """Start it without waiting for it."""
        with self._lock:
            self._spawn()

    def wait_ready(self) -> None:
        """Return when it is ready. TimeoutError when it takes too long."""
        keeper.wait_until(self._is_ready, _START_SECONDS, what=f"the {self._role}")

    @property
    def pid(self) -> int | None:
        """Its process id; None while it is not running."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def kill(self) -> bool:
        """SIGKILL it with all it started, and start it again; False when it was not running."""
        with self._lock:
            if self.pid is None or self._process is None:
                return False
            self._process.kill()
            self._again()
            return True

    def children(self) -> list[int]:
        """The process ids of what it has started."""
        return keeper.children(self.pid) if self.pid is not None else []

    def mend(self) -> bool:
        """Start it again if it ended by itself; whether it had to be."""
        with self._lock:
            if self._process is None or self._process.poll() is None:
                return False
            self._again()
            return True

    def stop(self) -> None:
        """Let it end, by force after some seconds."""
        with self._lock:
            process, self._process = self._process, None
            if process is None:
                return
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_SECONDS)
            kill_group(process)
            process.wait()

    def _again(self) -> None:
        assert self._process is not None  # noqa: S101 - the callers looked
        kill_group(self._process)  # what it leaves behind must not keep a port or a lock
        self._process.wait()
        self.restarts += 1
        self._spawn()

    def _spawn(self) -> None:
        self._process = keeper.do(
            lambda: spawn(
                [sys.executable, *self._words],
                death_signal=signal.SIGKILL,
                environment=self._environment,
                output=self._log,
                folder=ROOT,
            )
        )


def answers(port: int) -> bool:
    """Whether somebody speaks HTTP there, whatever it says."""
    connection = HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/healthz")
        connection.getresponse().read()
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
    return True
