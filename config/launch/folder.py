"""The data folder of `up`: who holds it, what lies where, and whether there is room."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from config.launch.errors import LaunchError

ALREADY_RUNNING = 3
_LEAST_FREE_BYTES = 200 * 1024 * 1024
_LONGEST_SOCKET_FOLDER = 80
_SECRET_CHARACTERS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFolder:
    """Everything `up` keeps: databases, logs, secrets, collected files."""

    path: Path

    @property
    def postgres(self) -> Path:
        """The database's data."""
        return self.path / "postgres"

    @property
    def static(self) -> Path:
        """What collectstatic fills."""
        return self.path / "static"

    def log(self, name: str) -> Path:
        """The log file of a process."""
        return self.path / "log" / f"{name}.log"

    @property
    def run(self) -> Path:
        """The folder of sockets: ours, or one elsewhere with a short path, as sockets need."""
        own = self.path / "run"
        if len(os.fsencode(own)) < _LONGEST_SOCKET_FOLDER:
            return own
        name = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:12]
        place = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
        return Path(place) / f"comboio-{os.getuid()}-{name}"

    def prepare(self) -> None:
        """Make the folders. LaunchError when the disk refuses or is nearly full."""
        try:
            for folder in (self.path, self.path / "log", self.path / "secrets", self.static):
                folder.mkdir(parents=True, exist_ok=True)
            self.path.chmod(0o711)  # The database may run as another user; it lists nothing.
            (self.path / "secrets").chmod(0o700)
            self.run.mkdir(mode=0o711, exist_ok=True)
        except OSError as error:
            raise LaunchError(
                f"Cannot write to the data folder {self.path}: {error.strerror}."
            ) from error
        if self.run.lstat().st_uid != os.getuid():
            raise LaunchError(f"{self.run} belongs to somebody else; remove it.")
        free = shutil.disk_usage(self.path).free
        if free < _LEAST_FREE_BYTES:
            raise LaunchError(
                f"Only {free // 2**20} MiB are free in {self.path}; "
                f"{_LEAST_FREE_BYTES // 2**20} MiB are needed. Make room, or use --data."
            )

    def secret(self, name: str) -> str:
        """A random secret that is made once and kept, readable by its owner only."""
        path = self.path / "secrets" / name
        if not path.exists():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(_SECRET_CHARACTERS))
        return path.read_text(encoding="ascii")


class Lock:
    """Held by the one supervisor of a data folder; the kernel frees it, however that one ends."""

    def __init__(self, folder: DataFolder) -> None:
        folder.path.mkdir(parents=True, exist_ok=True)
        self._file = (folder.path / "up.lock").open("a+", encoding="utf-8")

    def take(self) -> None:
        """Take it. LaunchError (status 3) with the holder's own words when another has it."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.seek(0)
            holder = self._file.read().strip() or "starting"
            self._file.close()
            raise LaunchError(f"Already running: {holder}", status=ALREADY_RUNNING) from error

    def say(self, words: str) -> None:
        """What the next one who tries will read."""
        self._file.seek(0)
        self._file.truncate()
        self._file.write(words)
        self._file.flush()

    def __enter__(self) -> Self:
        self.take()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.say("")
        self._file.close()


def source_secrets(config: Path, folder: DataFolder) -> dict[str, str]:
    """A kept random value for each environment variable that the sources' file wants (env = …)."""
    if not config.is_file():
        return {}
    try:
        declared = tomllib.loads(config.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise LaunchError(f"{config} is not valid TOML: {error}") from error
    return {name: folder.secret(name) for name in sorted(set(_env_names(declared)))}


def _env_names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "env" and isinstance(inner, str) and inner.isidentifier():
                yield inner
            else:
                yield from _env_names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _env_names(inner)
