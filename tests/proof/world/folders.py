"""A folder that the account of PostgreSQL may pass too: those of pytest are for one user."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_folder() -> Iterator[Path]:
    """A short path, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="comboio-proof-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
