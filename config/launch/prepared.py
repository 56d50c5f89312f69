"""Remembers what an embedded database was prepared for: unchanged, `up` starts at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from config.launch.bootstrap import RUNTIME_LOCK
from config.launch.folder import DataFolder

# Whatever can change tables, permissions, groups or static files.
_PACKAGES = ("config", "monitor", "dashboard", "examples", "static")
_FILES = (RUNTIME_LOCK, "package-lock.json", "comboio.toml")


def is_prepared(folder: DataFolder, root: Path) -> bool:
    """True when this very database and these very static files were prepared from this code."""
    try:
        return _stamp(folder).read_text(encoding="ascii") == _fingerprint(folder, root)
    except OSError:
        return False


def remember(folder: DataFolder, root: Path) -> None:
    """Note what was prepared just now."""
    _stamp(folder).write_text(_fingerprint(folder, root), encoding="ascii")


def _stamp(folder: DataFolder) -> Path:
    return folder.path / "prepared"


def _fingerprint(folder: DataFolder, root: Path) -> str:
    total = hashlib.sha256()
    for path in _inputs(folder, root):
        found = path.stat()
        total.update(f"{path}\0{found.st_size}\0{found.st_mtime_ns}\0{found.st_ino}\n".encode())
    return total.hexdigest()


def _inputs(folder: DataFolder, root: Path) -> Iterator[Path]:
    yield folder.postgres / "PG_VERSION"  # Another database is another file.
    single = [folder.static / "staticfiles.json", *(root / name for name in _FILES)]
    yield from (path for path in single if path.exists())
    for package in _PACKAGES:
        for path in sorted((root / package).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                yield path
