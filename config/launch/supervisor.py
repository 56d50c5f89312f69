"""Keeps a set of processes up: starts them, restarts what dies, stops them all."""

from __future__ import annotations

import contextlib
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from config.launch.errors import LaunchError
from config.launch.process import OURSELVES, Account, kill_group, spawn

_FIRST_DELAY_SECONDS = 0.5
_LONGEST_DELAY_SECONDS = 10.0
_STEADY_SECONDS = 30.0
_MOST_QUICK_DEATHS = 6
_LOG_TAIL_LINES = 15
_STOPPING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _always(_pid: int) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One process to keep up, and how it is asked to stop: signals, each with its patience."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    folder: Path | None = None
    account: Account = OURSELVES
    death_signal: signal.Signals = signal.SIGKILL
    stop: tuple[tuple[signal.Signals, float], ...] = ((signal.SIGTERM, 3.0),)
    is_ready: Callable[[int], bool] = _always
    before_start: Callable[[], None] = lambda: None


@dataclass(slots=True, kw_only=True)
class _Child:
    service: Service
    process: subprocess.Popen[bytes]
    started_at: float
    quick_deaths: int = 0
    stop_steps: int = 0
    restart_at: float | None = None


class StopRequested(Exception):  # noqa: N818 - a wish, not an error
    """Somebody pressed Ctrl-C or sent a signal."""


@dataclass(slots=True)
class Supervisor:
    """The processes of one `up`. All methods belong to the main thread."""

    say: Callable[[str], None]
    _children: dict[str, _Child] = field(default_factory=dict)
    _signals: int = 0
    _ear: socket.socket | None = None

    def listen(self) -> None:
        """From now on signals are noticed at once, without busy waiting."""
        self._ear, mouth = socket.socketpair()
        self._ear.setblocking(False)
        mouth.setblocking(False)
        signal.set_wakeup_fd(mouth.detach(), warn_on_full_buffer=False)
        for number in _STOPPING_SIGNALS:
            signal.signal(number, self._count)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # Only to wake the loop.

    def start(self, service: Service) -> None:
        """Start a service without waiting for it."""
        service.before_start()
        self._children[service.name] = _Child(
            service=service, process=_spawn(service), started_at=time.monotonic()
        )

    def wait_ready(self, *names: str, seconds: float = 60) -> None:
        """Return when these services are ready; the others are kept up meanwhile.

        LaunchError when one is not in time or keeps dying, StopRequested on a signal.
        """
        deadline = time.monotonic() + seconds
        missing = list(names)
        while missing:
            self.turn(0.02)
            missing = [name for name in missing if not self._is_ready(name)]
            if missing and time.monotonic() > deadline:
                child = self._children[missing[0]]
                raise LaunchError(f"{missing[0]} is not ready.\n{_tail(child.service.log)}")

    def wait_end(self, process: subprocess.Popen[bytes]) -> int:
        """Keep everything up until a foreign process of ours has ended; its status."""
        while process.poll() is None:
            self.turn(0.5)
        return process.returncode

    def keep(self) -> None:
        """Keep everything up until a signal comes (StopRequested)."""
        while True:
            self.turn(5.0)

    def turn(self, seconds: float) -> None:
        """Sleep until something happens, at most some seconds, then restart what died."""
        due = [child.restart_at for child in self._children.values() if child.restart_at]
        pause = min([seconds, *(max(0.0, each - time.monotonic()) for each in due)])
        self._nap(pause)
        if self._signals:
            raise StopRequested
        for child in self._children.values():
            self._mend(child)

    def stop(self, *names: str) -> None:
        """Stop services together: each step's signal to all, then patience, by force at the end."""
        children = [self._children.pop(name) for name in names if name in self._children]
        begun = time.monotonic()
        while any(child.process.poll() is None for child in children):
            late = time.monotonic() - begun
            for child in children:
                _press(child, late, is_hurried=self._signals > 1)
            self._nap(0.05)
        for child in children:
            kill_group(child.process)

    def names(self) -> list[str]:
        """The services that are kept up now, in the order of their start."""
        return list(self._children)

    def _mend(self, child: _Child) -> None:
        now = time.monotonic()
        if child.restart_at is not None:
            if now >= child.restart_at:
                child.restart_at = None
                child.service.before_start()
                child.process, child.started_at = _spawn(child.service), time.monotonic()
            return
        if child.process.poll() is None:
            return
        kill_group(child.process)  # Its own children must not keep a port or a lock.
        child.quick_deaths = (
            1 if now - child.started_at > _STEADY_SECONDS else child.quick_deaths + 1
        )
        name = child.service.name
        if child.quick_deaths > _MOST_QUICK_DEATHS:
            raise LaunchError(f"{name} died again and again.\n{_tail(child.service.log)}")
        delay = min(_LONGEST_DELAY_SECONDS, _FIRST_DELAY_SECONDS * 2 ** (child.quick_deaths - 1))
        child.restart_at = now + delay
        self.say(f"{name} {_manner(child.process.returncode)}; it starts again in {delay:g} s.")

    def _is_ready(self, name: str) -> bool:
        child = self._children[name]
        return child.restart_at is None and child.service.is_ready(child.process.pid)

    def _count(self, _number: int, _frame: FrameType | None) -> None:
        self._signals += 1

    def _nap(self, seconds: float) -> None:
        """Sleep until a signal comes, at most some seconds."""
        if self._ear is None:
            time.sleep(min(seconds, 0.05))
            return
        select.select([self._ear], [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            while self._ear.recv(4096):
                pass


def _spawn(service: Service) -> subprocess.Popen[bytes]:
    return spawn(
        service.command,
        death_signal=service.death_signal,
        environment=service.environment,
        output=service.log,
        account=service.account,
        folder=service.folder,
    )


def _press(child: _Child, late: float, *, is_hurried: bool) -> None:
    """Send the stop signal whose time has come; after the last one's patience, kill the group."""
    if child.process.poll() is not None:
        return
    begins = 0.0
    for step, (number, patience) in enumerate(child.service.stop):
        if late >= begins and child.stop_steps <= step:
            child.process.send_signal(number)
            child.stop_steps = step + 1
        begins += patience
    if late >= begins or is_hurried:
        kill_group(child.process)


def _manner(status: int) -> str:
    if status < 0:
        return f"was killed ({signal.Signals(-status).name})"
    return f"ended (status {status})"


def _tail(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join([f"The end of {log}:", *lines[-_LOG_TAIL_LINES:]])
