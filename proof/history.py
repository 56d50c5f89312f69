"""What the processes of a run did, as each wrote it down itself: lines that survive kill -9.

Never in the database under test: each process appends to a file of its own, one system call a line.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

FOLDER = "PROOF_HISTORY"  # the variable that names the folder; without it nothing is written
_SUFFIX = ".jsonl"

_pid = 0
_file = -1


def write(event: str, **fields: Any) -> None:
    """Append one line to this process's own file. A process that dies loses no line before it.

    mono_ns among the fields: when it was, in the place of now.
    """
    file = _own_file()
    if file < 0:
        return
    line = {"mono_ns": time.monotonic_ns(), "pid": _pid, "event": event, **fields}
    os.write(file, orjson.dumps(line, default=str, option=orjson.OPT_APPEND_NEWLINE))


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """Every line of every process, file by file. Half a line at the end of a file is left out."""
    for path in _files(folder):
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield orjson.loads(line)


def in_time(folder: Path) -> list[dict[str, Any]]:
    """Every line of every process in the order in which they were written."""
    return sorted(read(folder), key=lambda line: line["mono_ns"])


def digest(folder: Path) -> str:
    """SHA-256 over the names and the bytes of all files."""
    total = hashlib.sha256()
    for path in _files(folder):
        total.update(path.name.encode() + b"\0")
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                total.update(block)
    return total.hexdigest()


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{_SUFFIX}"))


def _own_file() -> int:
    """The open file of this process: a forked child opens its own. Below 0: no history is kept."""
    global _pid, _file  # noqa: PLW0603 - one file for each process
    pid = os.getpid()
    if pid != _pid:
        folder = os.environ.get(FOLDER)
        _file = -1 if not folder else _open(Path(folder), pid)
        _pid = pid
    return _file


def _open(folder: Path, pid: int) -> int:
    # Pids come round again in a long run: the moment keeps two lives apart.
    path = folder / f"{time.monotonic_ns():020d}-{pid}{_SUFFIX}"
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
