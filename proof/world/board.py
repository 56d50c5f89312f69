"""The product's board in a file, so that the nemesis can read who is busy with what."""

from __future__ import annotations

import mmap
from pathlib import Path

from monitor.worker.board import SLOTS, Board

STEWARD = 0
CLOCK = 1
FIRST_WORKER = 2
MOST_WORKERS = SLOTS - FIRST_WORKER


class SharedBoard(Board):
    """A board that every process sees that opens the same file."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        size = len(self._memory)
        with file.open("a+b") as opened:
            if opened.tell() < size:
                opened.truncate(size)
            self._memory.close()
            self._memory = mmap.mmap(opened.fileno(), size)
