"""Starts a child process that never outlives its parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER = 0x10000000
_NOBODY = 65534

# Loaded before any fork: the child may only do what is safe between fork and exec.
_libc = ctypes.CDLL(None, use_errno=True)
_has_death_signal = hasattr(_libc, "prctl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Whom a child runs as: ourselves, a system user, or nobody inside a user namespace."""

    uid: int | None = None
    gid: int | None = None
    in_namespace: bool = False

    @property
    def extra_groups(self) -> list[int] | None:
        """The supplementary groups: none for another user, ours for ourselves."""
        return None if self.uid is None else []


OURSELVES = Account()
NAMESPACE = Account(in_namespace=True)


def spawn(
    command: Sequence[str],
    *,
    death_signal: signal.Signals,
    environment: Mapping[str, str],
    output: Path | int | None,
    account: Account = OURSELVES,
    folder: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own, its output appended to a file (None: to ours).

    The kernel sends it death_signal when this process ends, however it ends (Linux). Call it from
    the main thread: the signal is tied to the thread that forks. OSError: it cannot be executed.
    """
    with contextlib.ExitStack() as files:
        stdout = files.enter_context(output.open("ab")) if isinstance(output, Path) else output
        return subprocess.Popen(  # noqa: S603 - commands are ours
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=None if output is None else subprocess.STDOUT,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
            # Safe: whoever starts processes has no threads.
            preexec_fn=preparation(account, death_signal=death_signal),  # noqa: PLW1509
            user=account.uid,
            group=account.gid,
            extra_groups=account.extra_groups,
        )


def preparation(account: Account, *, death_signal: signal.Signals) -> Callable[[], None]:
    """What a child does between fork and exec: hear signals, enter its namespace, die with us."""
    parent = os.getpid()

    def prepare() -> None:
        # A shell that starts us with “&” has it ignored, and that would be inherited.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if account.in_namespace:
            _enter_namespace(os.getuid(), os.getgid())
        # After the change of user: changing credentials clears the death signal.
        die_with_parent(death_signal)
        if os.getppid() != parent:  # The parent died before the line above took effect.
            os._exit(1)

    return prepare


def die_with_parent(death_signal: signal.Signals) -> None:
    """Ask the kernel for this signal when the parent ends (Linux; elsewhere nothing happens)."""
    if _has_death_signal:
        _libc.prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left of a child's session; harmless when nothing is."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _enter_namespace(uid: int, gid: int) -> None:
    """Become nobody for ourselves only: files stay owned by the real user, nothing is chmod-ed."""
    if _libc.unshare(_CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "user namespaces are not permitted here")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_NOBODY} {uid} 1"),
        ("gid_map", f"{_NOBODY} {gid} 1"),
    ):
        Path("/proc/self", name).write_text(text, encoding="ascii")
